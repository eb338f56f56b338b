"""serve_eventlet.py HOST PORT APP: eventlet's own server, a greenlet per connection; nothing is patched, so an app that
waits for Redis holds up all. The queue of 500 and the log to nowhere are the article's."""

import os
import sys

import eventlet
import eventlet.wsgi
from named import named

if __name__ == "__main__":
    listening = eventlet.listen((sys.argv[1], int(sys.argv[2])), backlog=500)
    with open(os.devnull, "w") as nowhere:
        eventlet.wsgi.server(listening, named(sys.argv[3]), log=nowhere)
