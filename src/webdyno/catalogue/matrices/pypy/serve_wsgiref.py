"""serve_wsgiref.py HOST PORT APP: the standard library's server, one request at a time, without a log line for each."""

import sys
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from named import let_connections_wait, named


class Server(WSGIServer):
    request_queue_size = 1024  # 5 unless told


class Handler(WSGIRequestHandler):
    def log_message(self, *_):
        pass


if __name__ == "__main__":
    let_connections_wait()
    make_server(sys.argv[1], int(sys.argv[2]), named(sys.argv[3]), Server, Handler).serve_forever()
