"""serve_rocket.py HOST PORT APP THREADS: rocket3, which goes on where Rocket ended; it adds threads as it needs them."""

import logging
import sys

from named import named
from rocket3 import Rocket3

if __name__ == "__main__":
    logging.disable(logging.CRITICAL)  # it logs every request
    address, app = (sys.argv[1], int(sys.argv[2])), named(sys.argv[3])
    Rocket3(address, "wsgi", {"wsgi_app": app}, min_threads=int(sys.argv[4])).start()
