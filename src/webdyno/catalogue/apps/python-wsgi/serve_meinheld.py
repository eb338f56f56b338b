"""serve_meinheld.py HOST PORT: meinheld by itself, one process and thread."""

import sys

from app import app
from meinheld import server

if __name__ == "__main__":
    server.set_access_logger(None)
    server.set_keepalive(60)  # off unless told
    server.set_backlog(2048)
    server.listen((sys.argv[1], int(sys.argv[2])))
    server.run(app)
