"""serve_gevent.py HOST PORT [--nodelay]: gevent's own server, a greenlet for each connection.

It writes head and body apart and leaves Nagle's algorithm on, so each answer on a kept connection waits for the
client's delayed acknowledgement, some 40 ms. --nodelay switches that off for the listening socket, and what is
accepted inherits it.
"""

from gevent import monkey

monkey.patch_all()

import socket
import sys

from app import app
from gevent.pywsgi import WSGIServer

if __name__ == "__main__":
    server = WSGIServer((sys.argv[1], int(sys.argv[2])), app, backlog=1024, log=None)
    server.init_socket()
    if "--nodelay" in sys.argv:
        server.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    server.serve_forever()
