// server.js HOST PORT WORKERS POOL: documents of MongoDB on Express, in a cluster, as study battle's article ran it.
'use strict';
const cluster = require('node:cluster');
const http = require('node:http');
const express = require('express');
const { MongoClient } = require('mongodb');

const [host, port, workers, pool] = process.argv.slice(2);

async function serve() {
  const client = await MongoClient.connect(process.env.MONGODB_URL, { maxPoolSize: Number(pool) });
  const documents = client.db('webdyno').collection('documents');
  const document = (number) => (request, response, next) =>
    documents.findOne({ _id: number }).then((found) => response.send(found), next);
  const app = express();
  app.get('/mongo', document(1));
  app.get('/mongo/big', document(2));
  http.createServer(app).listen(Number(port), host);
}

if (cluster.isPrimary) {
  for (let i = 0; i < Number(workers); i++) cluster.fork();
  process.on('SIGTERM', () => {
    for (const worker of Object.values(cluster.workers)) worker.process.kill('SIGTERM');
    process.exit(0); // a primary waits for its workers for ever
  });
} else {
  serve();
}
