"""serve_paste.py HOST PORT APP THREADS [QUEUE]: Paste's server, which speaks HTTP/1.0; its own queue unless told."""

import sys

from named import named
from paste.httpserver import serve

if __name__ == "__main__":
    address, app = (sys.argv[1], int(sys.argv[2])), named(sys.argv[3])
    queue = {"request_queue_size": int(sys.argv[5])} if sys.argv[5:] else {}
    serve(app, *address, threadpool_workers=int(sys.argv[4]), **queue)
