"""serve_paste.py HOST PORT APP THREADS: Paste's server, speaking HTTP/1.1 (1.0 unless told)."""

import socket
import sys

from named import named
from paste.httpserver import serve

if __name__ == "__main__":
    server = serve(
        named(sys.argv[3]),
        sys.argv[1],
        int(sys.argv[2]),
        protocol_version="HTTP/1.1",
        threadpool_workers=int(sys.argv[4]),
        request_queue_size=1024,
        start_loop=False,
    )
    # head and body are sent apart: without this each answer waits 40 ms for the client's delayed acknowledgement
    server.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    server.serve_forever()
