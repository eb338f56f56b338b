"""serve_eventlet.py HOST PORT: eventlet's own server, a green thread for each connection."""

import eventlet

eventlet.monkey_patch()

import sys

import eventlet.wsgi
from app import app

if __name__ == "__main__":
    listening = eventlet.listen((sys.argv[1], int(sys.argv[2])), backlog=1024)  # 50 unless told
    eventlet.wsgi.server(listening, app, log_output=False)
