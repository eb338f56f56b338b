import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** One answer for each head of a request; bodies are read and dropped. */
final class Answers extends SimpleChannelInboundHandler<HttpObject> {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final byte[] HELLO = "Hello, World!".getBytes(StandardCharsets.UTF_8);
    private static final byte[] NOT_FOUND = "not found".getBytes(StandardCharsets.UTF_8);
    private static final String TEXT = "text/plain; charset=utf-8";

    @Override
    protected void channelRead0(ChannelHandlerContext context, HttpObject message) throws JsonProcessingException {
        if (!(message instanceof HttpRequest request)) {
            return;
        }
        switch (request.uri()) {
            case "/" -> answer(context, HttpResponseStatus.OK, TEXT, HELLO);
            case "/json" -> answer(context, HttpResponseStatus.OK, "application/json",
                    JSON.writeValueAsBytes(Map.of("message", "Hello, World!")));
            default -> answer(context, HttpResponseStatus.NOT_FOUND, TEXT, NOT_FOUND);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        context.flush(); // once for all that was read together
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        context.close();
    }

    private static void answer(ChannelHandlerContext context, HttpResponseStatus status, String type, byte[] body) {
        var response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, Unpooled.wrappedBuffer(body));
        response.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, type)
                .setInt(HttpHeaderNames.CONTENT_LENGTH, body.length);
        context.write(response);
    }
}
