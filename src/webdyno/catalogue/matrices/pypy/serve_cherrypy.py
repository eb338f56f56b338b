"""serve_cherrypy.py HOST PORT APP THREADS: cheroot, the server inside CherryPy."""

import sys

from cheroot.wsgi import Server
from named import let_connections_wait, named

if __name__ == "__main__":
    let_connections_wait()
    threads = int(sys.argv[4])
    address, app = (sys.argv[1], int(sys.argv[2])), named(sys.argv[3])
    Server(address, app, numthreads=threads, max=threads, request_queue_size=1024, timeout=60).safe_start()
