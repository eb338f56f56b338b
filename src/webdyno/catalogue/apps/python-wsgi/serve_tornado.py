"""serve_tornado.py HOST PORT THREADS: Tornado's loop and parser, with the application in a pool of threads."""

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor

from app import app
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.wsgi import WSGIContainer


async def main(host, port, threads):
    server = HTTPServer(WSGIContainer(app, ThreadPoolExecutor(threads)), idle_connection_timeout=60)
    server.add_sockets(bind_sockets(port, host, backlog=1024))
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
