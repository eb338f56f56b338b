// server.js HOST PORT WORKERS: the plain answers with Fastify, in one process per worker when there are several.
'use strict';
const cluster = require('node:cluster');
const Fastify = require('fastify');

const [host, port, workers] = process.argv.slice(2);

// a schema is how Fastify is told to write JSON without looking at each value first
const message = { response: { 200: { type: 'object', properties: { message: { type: 'string' } } } } };

async function serve() {
  const app = Fastify({ logger: false, keepAliveTimeout: 60_000 });
  app.get('/', async (request, reply) => {
    reply.type('text/plain; charset=utf-8');
    return 'Hello, World!';
  });
  app.get('/json', { schema: message }, async () => ({ message: 'Hello, World!' }));
  await app.listen({ host, port: Number(port), backlog: 1024 });
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
