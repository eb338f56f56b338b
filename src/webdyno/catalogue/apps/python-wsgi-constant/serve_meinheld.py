"""serve_meinheld.py HOST PORT: meinheld with its defaults: it closes each connection and logs each request."""

import sys

from app import application
from meinheld import server

if __name__ == "__main__":
    server.listen((sys.argv[1], int(sys.argv[2])))
    server.run(application)
