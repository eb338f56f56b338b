"""serve_twisted.py HOST PORT APP [THREADS]: Twisted's server, with resources of its own or any WSGI app in threads."""

import sys

from named import named
from twisted.internet import reactor
from twisted.python.threadpool import ThreadPool
from twisted.web.resource import IResource
from twisted.web.server import Site
from twisted.web.wsgi import WSGIResource

if __name__ == "__main__":
    host, port, app = sys.argv[1], int(sys.argv[2]), named(sys.argv[3])
    if not IResource.providedBy(app):
        threads = int(sys.argv[4])
        pool = ThreadPool(threads, threads)
        reactor.callWhenRunning(pool.start)
        reactor.addSystemEventTrigger("after", "shutdown", pool.stop)
        app = WSGIResource(reactor, pool, app)
    reactor.listenTCP(port, Site(app, timeout=60), backlog=1024, interface=host)
    reactor.run()
