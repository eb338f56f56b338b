"""serve_wsgiref.py HOST PORT APP: the standard library's server, one request at a time, without a log line for each."""

import sys
from wsgiref.simple_server import WSGIRequestHandler, make_server

from named import let_connections_wait, named


class Handler(WSGIRequestHandler):
    def log_message(self, *_):
        pass


if __name__ == "__main__":
    let_connections_wait()
    make_server(sys.argv[1], int(sys.argv[2]), named(sys.argv[3]), handler_class=Handler).serve_forever()
