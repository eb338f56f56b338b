// server.js HOST PORT WORKERS: the plain answers with Express, in one process per worker when there are several.
'use strict';
const cluster = require('node:cluster');
const http = require('node:http');
const express = require('express');

const [host, port, workers] = process.argv.slice(2);

function serve() {
  const app = express();
  app.disable('x-powered-by'); // its own security advice
  app.get('/', (request, response) => {
    response.type('text/plain').send('Hello, World!');
  });
  app.get('/json', (request, response) => {
    response.json({ message: 'Hello, World!' });
  });
  const server = http.createServer(app);
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
