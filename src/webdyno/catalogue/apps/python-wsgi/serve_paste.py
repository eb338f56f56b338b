"""serve_paste.py HOST PORT THREADS [--nodelay]: Paste's threaded server, speaking HTTP/1.1 (1.0 unless told).

It leaves Nagle's algorithm on, so each answer on a kept connection waits for the client's delayed acknowledgement, some
40 ms. --nodelay switches that off for the listening socket, and what is accepted inherits it.
"""

import socket
import sys

from app import app
from paste.httpserver import serve

if __name__ == "__main__":
    host, port, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    server = serve(
        app,
        host,
        port,
        protocol_version="HTTP/1.1",
        threadpool_workers=threads,
        request_queue_size=1024,  # 5 unless told
        socket_timeout=60,
        start_loop=False,
    )
    if "--nodelay" in sys.argv:
        server.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    server.serve_forever()
