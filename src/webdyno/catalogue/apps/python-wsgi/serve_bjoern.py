"""serve_bjoern.py HOST PORT: bjoern, which has no command line; one process and thread, as it is meant to run."""

import sys

import bjoern
from app import app

if __name__ == "__main__":
    bjoern.run(app, sys.argv[1], int(sys.argv[2]), listen_backlog=1024)
