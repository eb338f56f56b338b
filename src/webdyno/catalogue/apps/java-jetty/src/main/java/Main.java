import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** {@code java Main HOST PORT THREADS}: the plain answers on Jetty's own handlers, without servlets. */
public final class Main extends Handler.Abstract.NonBlocking {
    private static final ObjectMapper JSON = new ObjectMapper();

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
        switch (Request.getPathInContext(request)) {
            case "/" -> answer(response, "text/plain; charset=utf-8",
                    "Hello, World!".getBytes(StandardCharsets.UTF_8), callback);
            case "/json" -> answer(response, "application/json",
                    JSON.writeValueAsBytes(Map.of("message", "Hello, World!")), callback);
            default -> {
                return false; // which Jetty answers with 404
            }
        }
        return true;
    }

    private static void answer(Response response, String type, byte[] body, Callback callback) {
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, type);
        response.write(true, ByteBuffer.wrap(body), callback);
    }

    public static void main(String[] arguments) throws Exception {
        Server server = new Server(new QueuedThreadPool(Integer.parseInt(arguments[2])));
        ServerConnector connector = new ServerConnector(server);
        connector.setHost(arguments[0]);
        connector.setPort(Integer.parseInt(arguments[1]));
        connector.setAcceptQueueSize(1024);
        connector.setIdleTimeout(60_000);
        server.addConnector(connector);
        server.setHandler(new Main());
        server.start();
    }
}
