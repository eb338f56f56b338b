"""serve.py HOST PORT: the plain answers as a cyclone application: Tornado's interface on Twisted's loop."""

import sys

import cyclone.web
from twisted.internet import reactor


class Hello(cyclone.web.RequestHandler):
    def get(self):
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.write("Hello, World!")


class Json(cyclone.web.RequestHandler):
    def get(self):
        self.write({"message": "Hello, World!"})


if __name__ == "__main__":
    app = cyclone.web.Application([("/", Hello), ("/json", Json)], log_function=lambda handler: None)
    reactor.listenTCP(int(sys.argv[2]), app, backlog=1024, interface=sys.argv[1])
    reactor.run()
