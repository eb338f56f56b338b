"""serve_rocket3.py HOST PORT THREADS: rocket3, a thread for each connection, THREADS of them kept ready."""

import sys

from app import app
from rocket3 import Rocket3

if __name__ == "__main__":
    host, port, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    # no most number of threads, as it ships: a kept connection holds one, and its backlog could not be longer than that
    Rocket3((host, port), "wsgi", {"wsgi_app": app}, min_threads=threads, queue_size=1024, timeout=60).start()
