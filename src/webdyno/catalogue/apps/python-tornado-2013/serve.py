"""serve.py HOST PORT: the greeting by Tornado as study hello's article wrote it: an asynchronous handler that ends its
answer itself, one process, Tornado's own listen queue and content type. For Python 2.7 and Tornado 3."""

import sys

from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.web import Application, RequestHandler, asynchronous


class Hello(RequestHandler):
    @asynchronous
    def get(self):
        self.write("Hello World\n")
        self.finish()


if __name__ == "__main__":
    HTTPServer(Application([(r"/", Hello)])).listen(int(sys.argv[2]), sys.argv[1])
    IOLoop.instance().start()
