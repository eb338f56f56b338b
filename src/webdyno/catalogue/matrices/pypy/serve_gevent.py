"""serve_gevent.py HOST PORT APP: gevent's own server, a greenlet per connection."""

from gevent import monkey

monkey.patch_all()  # before anything else is imported

import socket
import sys

from gevent.pywsgi import WSGIServer
from named import named

if __name__ == "__main__":
    server = WSGIServer((sys.argv[1], int(sys.argv[2])), named(sys.argv[3]), log=None, backlog=1024)
    server.init_socket()
    # head and body are sent apart: without this each answer waits 40 ms for the client's delayed acknowledgement
    server.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    server.serve_forever()
