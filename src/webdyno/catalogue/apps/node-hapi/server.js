// server.js HOST PORT WORKERS: the plain answers with hapi, in one process per worker when there are several.
'use strict';
const cluster = require('node:cluster');
const http = require('node:http');
const Hapi = require('@hapi/hapi');

const [host, port, workers] = process.argv.slice(2);

async function serve() {
  const listener = http.createServer();
  listener.keepAliveTimeout = 60_000; // 5 s unless told
  const server = Hapi.server({ listener, autoListen: false }); // hapi itself cannot be told a backlog
  server.route({ method: 'GET', path: '/', handler: (request, h) => h.response('Hello, World!').type('text/plain') });
  server.route({ method: 'GET', path: '/json', handler: () => ({ message: 'Hello, World!' }) });
  await server.start();
  listener.listen({ host, port: Number(port), backlog: 1024 });
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
