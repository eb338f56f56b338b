"""serve_eventlet.py HOST PORT APP: eventlet's own server, a greenlet per connection."""

import eventlet

eventlet.monkey_patch()  # before anything else is imported

import sys

import eventlet.wsgi
from named import named

if __name__ == "__main__":
    listening = eventlet.listen((sys.argv[1], int(sys.argv[2])), backlog=1024)
    eventlet.wsgi.server(listening, named(sys.argv[3]), log_output=False, max_size=1024, socket_timeout=60)
