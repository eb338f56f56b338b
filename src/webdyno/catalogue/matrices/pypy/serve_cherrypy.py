"""serve_cherrypy.py HOST PORT APP THREADS [QUEUE]: cheroot, the server inside CherryPy; its own queue unless told."""

import sys

from cheroot.wsgi import Server
from named import let_connections_wait, named

if __name__ == "__main__":
    let_connections_wait()
    queue = {"request_queue_size": int(sys.argv[5])} if sys.argv[5:] else {}
    Server((sys.argv[1], int(sys.argv[2])), named(sys.argv[3]), numthreads=int(sys.argv[4]), **queue).safe_start()
