// server.js HOST PORT: the greeting by Node as study hello's article wrote it: written in two steps and without its length,
// one process, Node's own listen queue. For Node 0.10.
var http = require('http');

http.createServer(function (request, response) {
  response.writeHead(200, { 'Content-Type': 'text/plain' });
  response.write('Hello World\n');
  response.end();
}).listen(Number(process.argv[3]), process.argv[2]);
