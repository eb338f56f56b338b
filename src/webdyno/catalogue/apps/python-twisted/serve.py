"""serve.py HOST PORT WORKERS: the plain answers as twisted.web resources, in one process per worker on one socket."""

import json
import signal
import socket
import sys
from multiprocessing import get_context

from twisted.web.resource import Resource
from twisted.web.server import Site


class Hello(Resource):
    def render_GET(self, request):
        request.setHeader(b"content-type", b"text/plain; charset=utf-8")
        return b"Hello, World!"


class Json(Resource):
    def render_GET(self, request):
        request.setHeader(b"content-type", b"application/json")
        return json.dumps({"message": "Hello, World!"}).encode()


def work(listening):
    from twisted.internet import reactor  # made by its import: each process needs its own

    root = Resource()
    root.putChild(b"", Hello())
    root.putChild(b"json", Json())
    reactor.adoptStreamPort(listening.fileno(), socket.AF_INET, Site(root, timeout=60))
    reactor.run()


if __name__ == "__main__":
    host, port, workers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    listening = socket.create_server((host, port), backlog=1024)
    listening.setblocking(False)
    if workers == 1:
        work(listening)
    else:
        processes = [get_context("fork").Process(target=work, args=(listening,), daemon=True) for _ in range(workers)]
        for process in processes:
            process.start()
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # which ends the daemon processes too
        for process in processes:
            process.join()
