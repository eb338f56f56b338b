import io.helidon.media.jsonp.JsonpSupport;
import io.helidon.webserver.Routing;
import io.helidon.webserver.WebServer;
import jakarta.json.Json;
import jakarta.json.JsonBuilderFactory;
import java.util.Map;

/** {@code java Main HOST PORT THREADS}: the plain answers on Helidon SE, with as many event loops as threads. */
public final class Main {
    private static final JsonBuilderFactory JSON = Json.createBuilderFactory(Map.of());

    public static void main(String[] arguments) {
        WebServer.builder()
                .host(arguments[0])
                .port(Integer.parseInt(arguments[1]))
                .workersCount(Integer.parseInt(arguments[2]))
                .backlog(1024)
                .addMediaSupport(JsonpSupport.create())
                .routing(Routing.builder()
                        .get("/", (request, response) -> response.send("Hello, World!"))
                        .get("/json", (request, response) ->
                                response.send(JSON.createObjectBuilder().add("message", "Hello, World!").build())))
                .build()
                .start();
    }
}
