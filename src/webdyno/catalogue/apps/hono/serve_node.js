// serve_node.js HOST PORT WORKERS: the app on Node, in one process per worker when there are several.
import cluster from 'node:cluster';
import { createAdaptorServer } from '@hono/node-server';
import app from './app.js';

const [host, port, workers] = process.argv.slice(2);

function serve() {
  const server = createAdaptorServer(app);
  server.keepAliveTimeout = 60_000; // 5 s unless told
  server.listen({ host, port: Number(port), backlog: 1024 });
}

if (Number(workers) > 1 && cluster.isPrimary) {
  for (let i = 0; i < Number(workers); i++) cluster.fork();
  process.on('SIGTERM', () => {
    for (const worker of Object.values(cluster.workers)) worker.process.kill('SIGTERM');
    process.exit(0); // a primary waits for its workers for ever
  });
} else {
  serve();
}
