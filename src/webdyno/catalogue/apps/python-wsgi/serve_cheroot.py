"""serve_cheroot.py HOST PORT THREADS: cheroot, the server inside CherryPy; it has no command line that sets a backlog."""

import signal
import sys

from app import app
from cheroot.wsgi import Server

if __name__ == "__main__":
    host, port, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    Server((host, port), app, numthreads=threads, max=threads, request_queue_size=1024, timeout=60).safe_start()
