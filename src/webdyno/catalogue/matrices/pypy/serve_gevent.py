"""serve_gevent.py HOST PORT APP: gevent's own server, a greenlet per connection; nothing is patched, so an app that
waits for Redis holds up all."""

import sys

from gevent.pywsgi import WSGIServer
from named import named

if __name__ == "__main__":
    WSGIServer((sys.argv[1], int(sys.argv[2])), named(sys.argv[3]), log=None).serve_forever()
