"""serve.py HOST PORT: the greeting by twisted.web as study hello's article wrote it: a leaf for every path, one process,
Twisted's own listen queue. For Python 2.7."""

import sys

from twisted.internet import reactor
from twisted.web.resource import Resource
from twisted.web.server import Site


class Hello(Resource):
    isLeaf = True

    def render_GET(self, request):
        request.setHeader("Content-Type", "text/plain")
        return "Hello World\n"


if __name__ == "__main__":
    reactor.listenTCP(int(sys.argv[2]), Site(Hello()), interface=sys.argv[1])
    reactor.run()
