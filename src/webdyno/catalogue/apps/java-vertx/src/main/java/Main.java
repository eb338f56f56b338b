import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.JsonObject;

/** {@code java Main HOST PORT THREADS}: the plain answers on Vert.x, one verticle and one event loop per thread. */
public final class Main extends VerticleBase {
    private final String host;
    private final int port;

    private Main(String host, int port) {
        this.host = host;
        this.port = port;
    }

    @Override
    public Future<?> start() {
        return vertx.createHttpServer(new HttpServerOptions().setAcceptBacklog(1024).setIdleTimeout(60))
                .requestHandler(Main::answer)
                .listen(port, host);
    }

    private static void answer(HttpServerRequest request) {
        HttpServerResponse response = request.response();
        switch (request.path()) {
            case "/" -> response.putHeader("Content-Type", "text/plain; charset=utf-8").end("Hello, World!");
            case "/json" -> response.putHeader("Content-Type", "application/json")
                    .end(new JsonObject().put("message", "Hello, World!").toBuffer());
            default -> response.setStatusCode(404).end("not found");
        }
    }

    public static void main(String[] arguments) {
        String host = arguments[0];
        int port = Integer.parseInt(arguments[1]);
        int threads = Integer.parseInt(arguments[2]);
        Vertx.vertx(new VertxOptions().setEventLoopPoolSize(threads))
                .deployVerticle(() -> new Main(host, port), new DeploymentOptions().setInstances(threads))
                .onFailure(cause -> {
                    cause.printStackTrace();
                    System.exit(1);
                });
    }
}
