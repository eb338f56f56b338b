"""serve_rocket.py HOST PORT APP THREADS: rocket3, which goes on where Rocket ended."""

import logging
import sys

from named import named
from rocket3 import Rocket3

if __name__ == "__main__":
    logging.disable(logging.CRITICAL)  # it logs every request
    threads = int(sys.argv[4])
    address, app = (sys.argv[1], int(sys.argv[2])), named(sys.argv[3])
    server = Rocket3(address, "wsgi", {"wsgi_app": app}, min_threads=threads, max_threads=threads, timeout=60)
    for listener in server.listeners:
        listener.listener.listen(1024)  # the length it knows is that of its own queue, as many as threads
    server.start()
