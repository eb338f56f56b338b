import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.undertow.Handlers;
import io.undertow.Undertow;
import io.undertow.UndertowOptions;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import java.nio.ByteBuffer;
import java.util.Map;
import org.xnio.Options;

/** {@code java Main HOST PORT THREADS}: the plain answers on Undertow, given by its IO threads themselves. */
public final class Main {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) {
        Undertow.builder()
                .addHttpListener(Integer.parseInt(arguments[1]), arguments[0])
                .setIoThreads(Integer.parseInt(arguments[2]))
                .setSocketOption(Options.BACKLOG, 1024)
                .setServerOption(UndertowOptions.NO_REQUEST_TIMEOUT, 60_000)
                .setHandler(Handlers.path()
                        .addExactPath("/", Main::hello)
                        .addExactPath("/json", Main::json))
                .build()
                .start();
    }

    private static void hello(HttpServerExchange exchange) {
        exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "text/plain; charset=utf-8");
        exchange.getResponseSender().send("Hello, World!");
    }

    private static void json(HttpServerExchange exchange) throws JsonProcessingException {
        exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/json");
        exchange.getResponseSender()
                .send(ByteBuffer.wrap(JSON.writeValueAsBytes(Map.of("message", "Hello, World!"))));
    }
}
