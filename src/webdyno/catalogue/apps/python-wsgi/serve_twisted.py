"""serve_twisted.py HOST PORT THREADS: twisted.web's WSGIResource, the application in a pool of threads."""

import sys

from app import app
from twisted.internet import reactor
from twisted.python.threadpool import ThreadPool
from twisted.web.server import Site
from twisted.web.wsgi import WSGIResource

if __name__ == "__main__":
    host, port, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    pool = ThreadPool(maxthreads=threads)
    pool.start()
    reactor.addSystemEventTrigger("after", "shutdown", pool.stop)
    reactor.listenTCP(port, Site(WSGIResource(reactor, pool, app), timeout=60), backlog=1024, interface=host)
    reactor.run()
