"""serve.py HOST PORT WORKERS: the plain answers as a Tornado application, in one process per worker on one socket."""

import asyncio
import signal
import sys
from multiprocessing import get_context

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler


class Hello(RequestHandler):
    def get(self):
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.write(b"Hello, World!")


class Json(RequestHandler):
    def get(self):
        self.write({"message": "Hello, World!"})


def work(sockets):
    asyncio.run(serve(sockets))


async def serve(sockets):
    app = Application([("/", Hello), ("/json", Json)], log_function=lambda handler: None)
    server = HTTPServer(app, idle_connection_timeout=60)
    server.add_sockets(sockets)
    await asyncio.Event().wait()


if __name__ == "__main__":
    host, port, workers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    sockets = bind_sockets(port, host, backlog=1024)
    if workers == 1:
        work(sockets)
    else:
        processes = [get_context("fork").Process(target=work, args=(sockets,), daemon=True) for _ in range(workers)]
        for process in processes:
            process.start()
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # which ends the daemon processes too
        for process in processes:
            process.join()
