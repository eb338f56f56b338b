import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.wire.MongoDatabaseHandler;
import de.bwaldvogel.mongo.wire.MongoExceptionHandler;
import de.bwaldvogel.mongo.wire.MongoWireMessageEncoder;
import de.bwaldvogel.mongo.wire.MongoWireProtocolHandler;
import de.bwaldvogel.mongo.wire.MongoWireReplyEncoder;
import de.bwaldvogel.mongo.wire.message.MongoMessage;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * {@code java Serve HOST PORT}: mongo-java-server, in memory, until it is ended.
 *
 * <p>It says that it speaks wire version 8 (MongoDB 4.2); today's drivers ask for 9 and more before they talk at all.
 * What webdyno's workloads ask of it (insert one, find one by its _id) has not changed on the wire since, so it says 21
 * (MongoDB 7.0) here. It is not a mongod all the same, and each Run made with it says so.
 *
 * <p>It answers finds later when it is told to by the command a mongod knows for that, the fail point failCommand with
 * blockTimeMS (https://github.com/mongodb/mongo/wiki/The-failCommand-fail-point).
 */
public final class Serve {
    private static volatile long delayNs;

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

    private static final class Backend extends MemoryBackend {
        @Override
        public Document handleMessage(MongoMessage message) {
            Document asked = message.getDocument();
            if (!"failCommand".equals(asked.get("configureFailPoint"))) {
                return super.handleMessage(message);
            }
            boolean off = "off".equals(asked.get("mode"));
            Number ms = off ? 0 : (Number) ((Document) asked.get("data")).get("blockTimeMS");
            delayNs = TimeUnit.MILLISECONDS.toNanos(ms.longValue());
            return new Document("ok", 1.0);
        }
    }

    /** As a mongod works: each connection has its questions answered one by one, and none waits for another's. */
    private static final class Later extends ChannelInboundHandlerAdapter {
        private long freeNs = System.nanoTime();

        @Override
        public void channelRead(ChannelHandlerContext context, Object asked) {
            long now = System.nanoTime();
            boolean waits = asked instanceof MongoMessage message && message.getDocument().containsKey("find");
            freeNs = Math.max(now, freeNs) + (waits ? delayNs : 0);
            if (freeNs == now) {
                context.fireChannelRead(asked);
            } else {
                context.executor().schedule(() -> context.fireChannelRead(asked), freeNs - now, TimeUnit.NANOSECONDS);
            }
        }
    }

    public static void main(String[] arguments) {
        var backend = new Backend();
        backend.version(Raised.SEVEN);
        var accepting = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        var serving = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
        ChannelGroup channels = new DefaultChannelGroup(accepting.next());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            accepting.shutdownGracefully(0, 0, TimeUnit.SECONDS);
            serving.shutdownGracefully(0, 0, TimeUnit.SECONDS);
        }));
        new ServerBootstrap()
                .group(accepting, serving)
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, 1024)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(
                                new MongoWireReplyEncoder(),
                                new MongoWireMessageEncoder(),
                                new MongoWireProtocolHandler(),
                                new Later(),
                                new MongoDatabaseHandler(backend, channels),
                                new MongoExceptionHandler());
                    }
                })
                .bind(arguments[0], Integer.parseInt(arguments[1]))
                .syncUninterruptibly();
    }
}
