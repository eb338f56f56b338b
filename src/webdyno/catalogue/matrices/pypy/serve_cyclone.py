"""serve_cyclone.py HOST PORT APP: a cyclone application, which is a factory of Twisted."""

import sys

from named import named
from twisted.internet import reactor

if __name__ == "__main__":
    reactor.listenTCP(int(sys.argv[2]), named(sys.argv[3]), interface=sys.argv[1])
    reactor.run()
