"""serve.py HOST PORT LOOP: one Tornado process whose event loop waits by select(2), by epoll(7), or is uvloop's."""

import asyncio
import selectors
import sys

from tornado.web import Application, RequestHandler


class Hello(RequestHandler):
    def get(self):
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.write(b"Hello, World!")


def new_uvloop():
    import uvloop  # its contender alone installs it

    return uvloop.new_event_loop()


LOOPS = {
    "select": lambda: asyncio.SelectorEventLoop(selectors.SelectSelector()),
    "epoll": lambda: asyncio.SelectorEventLoop(selectors.EpollSelector()),
    "uvloop": new_uvloop,
}


async def serve(host, port):
    app = Application([("/", Hello)], log_function=lambda handler: None)
    app.listen(port, host, backlog=1024, idle_connection_timeout=60)
    await asyncio.Event().wait()


if __name__ == "__main__":
    host, port, loop = sys.argv[1:]
    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        runner.run(serve(host, int(port)))
