"""backend.py FILE: Tornado's hello application in one process, on the listening socket it was given the number of."""

import socket
import sys

from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.web import Application, RequestHandler


class MainHandler(RequestHandler):
    def get(self):
        self.set_header("Content-Type", "text/plain")
        self.write("Hello, World!")


application = Application([(r"/", MainHandler)])

if __name__ == "__main__":
    listening = socket.socket(fileno=int(sys.argv[1]))
    listening.setblocking(False)
    server = HTTPServer(application, xheaders=True)
    server.add_socket(listening)
    IOLoop.current().start()
