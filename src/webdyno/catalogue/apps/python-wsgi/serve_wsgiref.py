"""serve_wsgiref.py HOST PORT: the standard library's server, one request at a time, without its log line per request."""

import sys
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from app import app


class Server(WSGIServer):
    request_queue_size = 1024  # 5 unless told


class Handler(WSGIRequestHandler):
    def log_message(self, *_):
        pass


if __name__ == "__main__":
    make_server(sys.argv[1], int(sys.argv[2]), app, Server, Handler).serve_forever()
