// server.js HOST PORT WORKERS: the plain answers on node:http, in one process per worker when there are several.
'use strict';
const cluster = require('node:cluster');
const http = require('node:http');

const [host, port, workers] = process.argv.slice(2);

function answer(request, response) {
  let status = 200;
  let type = 'text/plain; charset=utf-8';
  let body;
  if (request.url === '/') {
    body = 'Hello, World!';
  } else if (request.url === '/json') {
    type = 'application/json';
    body = JSON.stringify({ message: 'Hello, World!' });
  } else {
    status = 404;
    body = 'not found';
  }
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}

if (Number(workers) > 1 && cluster.isPrimary) {
  for (let i = 0; i < Number(workers); i++) cluster.fork();
  process.on('SIGTERM', () => {
    for (const worker of Object.values(cluster.workers)) worker.process.kill('SIGTERM');
    process.exit(0); // a primary waits for its workers for ever
  });
} else {
  const server = http.createServer(answer);
  server.keepAliveTimeout = 60_000; // 5 s unless told
  server.listen({ host, port: Number(port), backlog: 1024 });
}
