import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.util.List;

/**
 * {@code java Serve HOST PORT}: mongo-java-server, in memory, until it is ended.
 *
 * <p>It says that it speaks wire version 8 (MongoDB 4.2); today's drivers ask for 9 and more before they talk at all.
 * What webdyno's workloads ask of it (insert one, find one by its _id) has not changed on the wire since, so it says 21
 * (MongoDB 7.0) here. It is not a mongod all the same, and each Run made with it says so.
 */
public final class Serve {
    private enum Raised implements MongoVersion {
        SEVEN;

        @Override
        public List<Integer> getVersionArray() {
            return List.of(7, 0, 0);
        }

        @Override
        public int getWireVersion() {
            return 21;
        }
    }

    public static void main(String[] arguments) {
        MongoServer server = new MongoServer(new MemoryBackend().version(Raised.SEVEN));
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
        server.bind(arguments[0], Integer.parseInt(arguments[1]));
    }
}
