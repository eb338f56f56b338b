"""serve.py HOST PORT THREADS: the plain answers as a Bottle application, on cheroot."""

import signal
import sys

from bottle import Bottle, response

app = Bottle()


@app.get("/")
def hello():
    response.content_type = "text/plain; charset=utf-8"
    return "Hello, World!"


@app.get("/json")
def answer_json():
    return {"message": "Hello, World!"}


if __name__ == "__main__":
    host, port, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    app.run(
        server="cheroot", host=host, port=port, quiet=True,
        numthreads=threads, max=threads, request_queue_size=1024, timeout=60,
    )  # fmt: skip
