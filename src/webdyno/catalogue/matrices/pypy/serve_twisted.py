"""serve_twisted.py HOST PORT APP [THREADS]: Twisted's server, with resources of its own or any WSGI app in threads."""

import sys

from named import named
from twisted.internet import reactor
from twisted.web.resource import IResource
from twisted.web.server import Site
from twisted.web.wsgi import WSGIResource

if __name__ == "__main__":
    host, port, app = sys.argv[1], int(sys.argv[2]), named(sys.argv[3])
    if not IResource.providedBy(app):
        reactor.suggestThreadPoolSize(int(sys.argv[4]))
        app = WSGIResource(reactor, reactor.getThreadPool(), app)
    reactor.listenTCP(port, Site(app), interface=host)
    reactor.run()
