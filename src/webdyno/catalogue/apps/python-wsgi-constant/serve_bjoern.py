"""serve_bjoern.py HOST PORT: bjoern with its defaults, but for SO_REUSEPORT, as in study wsgi's article."""

import sys

import bjoern
from app import application

if __name__ == "__main__":
    bjoern.run(application, sys.argv[1], int(sys.argv[2]), reuse_port=True)
