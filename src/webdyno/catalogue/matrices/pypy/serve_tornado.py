"""serve_tornado.py HOST PORT APP: Tornado's server, with an app of its own or any WSGI app."""

import asyncio
import sys

from named import named
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application
from tornado.wsgi import WSGIContainer


def main():
    app = named(sys.argv[3])
    server = HTTPServer(app if isinstance(app, Application) else Quiet(app), idle_connection_timeout=60)
    server.add_sockets(bind_sockets(int(sys.argv[2]), sys.argv[1], backlog=1024))


class Quiet(WSGIContainer):
    def _log(self, *_):  # it has no setting for this
        pass


if __name__ == "__main__":
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.call_soon(main)
    loop.run_forever()
