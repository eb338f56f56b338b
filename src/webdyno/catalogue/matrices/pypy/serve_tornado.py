"""serve_tornado.py HOST PORT APP: Tornado's server, with an app of its own or any WSGI app."""

import sys

from named import named
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.web import Application
from tornado.wsgi import WSGIContainer

if __name__ == "__main__":
    app = named(sys.argv[3])
    HTTPServer(app if isinstance(app, Application) else WSGIContainer(app)).listen(int(sys.argv[2]), sys.argv[1])
    IOLoop.current().start()
