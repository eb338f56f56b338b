"""serve.py HOST PORT: one loop, three handlers: an answer at once, one that blocks a second and one that awaits it."""

import asyncio
import sys
import time

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler


class Text(RequestHandler):
    def set_default_headers(self):
        self.set_header("Content-Type", "text/plain; charset=utf-8")


class Instant(Text):
    def get(self):
        self.write(b"Hello, World!")


class Blocking(Text):
    def get(self):
        time.sleep(1)  # the mistake that is shown: nothing else of this process goes on meanwhile
        self.write(b"slept")


class Async(Text):
    async def get(self):
        await asyncio.sleep(1)
        self.write(b"slept")


async def main(host, port):
    routes = [("/", Instant), ("/sleep/blocking", Blocking), ("/sleep/async", Async)]
    server = HTTPServer(Application(routes, log_function=lambda handler: None), idle_connection_timeout=60)
    server.add_sockets(bind_sockets(port, host, backlog=1024))
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
