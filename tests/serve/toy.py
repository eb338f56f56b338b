"""A server that misbehaves on request: ``toy.py PORT MODE``."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

count = itertools.count()


class Toy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        number = next(count)
        mode = sys.argv[2]
        if mode == "silent":
            time.sleep(60)
        if mode == "dies-when-asked":
            os._exit(4)
        body, status, media = b"Hello", 200, "text/plain; charset=utf-8"
        if self.path == "/json":
            media = "application/json"
            body = b'{"a": 1,  "b": [true]}' if mode == "changing" and number % 2 else b'{"b": [true], "a": 1}'
        if mode == "wrong" or (mode == "wrong-later" and number > 8):
            body = b"Hullo"
        if mode == "unavailable" or (mode == "unavailable-first" and number < 3):
            status, body = 503, b"wait"
        self.send_response(status)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    port, mode = int(sys.argv[1]), sys.argv[2]
    if mode == "exits":
        print("x" * 80 + "\n", end="")
        print("y" * 79 + "\n", end="")
        sys.exit("cannot find module flusk")
    if mode == "chatty-exit":
        print("line of it\n" * 1000)
        sys.exit(3)
    if mode == "crashes":
        os.kill(os.getpid(), signal.SIGSEGV)
    hoard = []
    while mode in ("floods", "eats"):
        if mode == "floods":
            print("x" * 79, flush=True)
        else:
            hoard.append(b"x" * 2**20)
    if mode in ("never", "crowds"):
        while mode == "crowds" and os.fork():  # OSError when there are too many
            continue
        time.sleep(60)
    if mode == "daemon" and os.fork():
        time.sleep(0.05)
        os._exit(0)
    if mode == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    HTTPServer(("127.0.0.1", port), Toy).serve_forever()


main()
