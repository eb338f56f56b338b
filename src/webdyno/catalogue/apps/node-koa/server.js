// server.js HOST PORT WORKERS: the plain answers with Koa, in one process per worker when there are several.
'use strict';
const cluster = require('node:cluster');
const http = require('node:http');
const Koa = require('koa');
const Router = require('@koa/router');

const [host, port, workers] = process.argv.slice(2);

function serve() {
  const app = new Koa();
  const router = new Router();
  router.get('/', (context) => {
    context.body = 'Hello, World!';
  });
  router.get('/json', (context) => {
    context.body = { message: 'Hello, World!' };
  });
  app.use(router.routes());
  const server = http.createServer(app.callback());
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
