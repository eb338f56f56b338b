"""backend.py SOCKET: the plain answers as a Tornado application, in one process on a Unix socket."""

import asyncio
import sys

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_unix_socket
from tornado.web import Application, RequestHandler


class Hello(RequestHandler):
    def get(self):
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.write(b"Hello, World!")


class Json(RequestHandler):
    def get(self):
        self.write({"message": "Hello, World!"})


async def serve(path):
    app = Application([("/", Hello), ("/json", Json)], log_function=lambda handler: None)
    server = HTTPServer(app, xheaders=True, idle_connection_timeout=60)
    # who finds the queue of a Unix socket full is not made to wait, as with TCP, but refused
    server.add_socket(bind_unix_socket(path, backlog=4096))
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
