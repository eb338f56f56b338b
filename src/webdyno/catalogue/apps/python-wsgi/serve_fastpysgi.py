"""serve_fastpysgi.py HOST PORT WORKERS: fastpysgi, one process per worker, each with a socket of its own."""

import sys

import fastpysgi
from app import app

if __name__ == "__main__":
    fastpysgi.server.backlog = 2048
    fastpysgi.server.tcp_nodelay = 1
    fastpysgi.run(app, host=sys.argv[1], port=int(sys.argv[2]), loglevel=0, workers=int(sys.argv[3]))
