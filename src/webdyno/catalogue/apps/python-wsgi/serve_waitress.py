"""serve_waitress.py HOST PORT THREADS: waitress, without the line it logs for each request that has to queue."""

import logging
import sys

from app import app
from waitress import serve

if __name__ == "__main__":
    logging.basicConfig()
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # its command line cannot
    # 100 connections unless told, and more than that wait unanswered; select() ends it at the 1,024th
    limits = {"backlog": 1024, "connection_limit": 20_000, "asyncore_use_poll": True}
    serve(app, host=sys.argv[1], port=int(sys.argv[2]), threads=int(sys.argv[3]), **limits)
