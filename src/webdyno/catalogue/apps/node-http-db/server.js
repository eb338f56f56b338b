// server.js HOST PORT WORKERS POOL: answers that wait on a database, on node:http, in one process per worker.
// The MongoDB driver keeps a pool of POOL connections per process; the Redis client sends everything over one
// connection, as its makers advise, and so needs none.
'use strict';
const cluster = require('node:cluster');
const http = require('node:http');
const { setTimeout: wait } = require('node:timers/promises');

const [host, port, workers, pool] = process.argv.slice(2);
const { REDIS_URL, MONGODB_URL } = process.env;

const text = (body) => ['text/plain; charset=utf-8', body];
const json = (value) => ['application/json', JSON.stringify(value)];

async function main() {
  const routes = {
    '/sleep': async () => {
      await wait(1000);
      return text('slept');
    },
  };
  if (REDIS_URL) {
    const redis = await require('redis').createClient({ url: REDIS_URL }).on('error', console.error).connect();
    routes['/counter'] = async () => text(String(await redis.incr('webdyno:counter')));
    routes['/static'] = async () => text(await redis.get('webdyno:static'));
  }
  if (MONGODB_URL) {
    const { MongoClient } = require('mongodb');
    const documents = new MongoClient(MONGODB_URL, { maxPoolSize: Number(pool) }).db('webdyno').collection('documents');
    routes['/mongo'] = async () => json(await documents.findOne({ _id: 1 }));
    routes['/mongo/big'] = async () => json(await documents.findOne({ _id: 2 }));
  }

  const server = http.createServer(async (request, response) => {
    let status = 200;
    let [type, body] = text('not found');
    try {
      if (routes[request.url]) [type, body] = await routes[request.url]();
      else status = 404;
    } catch (error) {
      console.error(error);
      status = 500;
      body = 'the database failed';
    }
    response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) });
    response.end(body);
  });
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
  main();
}
