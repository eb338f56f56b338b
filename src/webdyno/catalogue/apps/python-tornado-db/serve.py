"""serve.py HOST PORT WORKERS POOL: answers that wait on a database as a Tornado application, one process per worker.

MongoDB by PyMongo's own AsyncMongoClient: Motor, which study S0 used, has ended, and this is what its authors name as
its successor (https://www.mongodb.com/docs/languages/python/pymongo-driver/current/reference/migration/).
"""

import asyncio
import json
import os
import signal
import sys
from multiprocessing import get_context

from pymongo import AsyncMongoClient
from redis.asyncio import BlockingConnectionPool, Redis
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler


class Text(RequestHandler):
    def set_default_headers(self):
        self.set_header("Content-Type", "text/plain; charset=utf-8")


class Counter(Text):
    async def get(self):
        self.write(b"%d" % await self.settings["redis"].incr("webdyno:counter"))


class Static(Text):
    async def get(self):
        self.write(await self.settings["redis"].get("webdyno:static"))


class Sleep(Text):
    async def get(self):
        await asyncio.sleep(1)
        self.write(b"slept")


class Document(RequestHandler):
    def initialize(self, number):
        self.number = number

    async def get(self):
        self.set_header("Content-Type", "application/json")
        self.write(json.dumps(await self.settings["documents"].find_one({"_id": self.number})))


ROUTES = [
    ("/counter", Counter),
    ("/static", Static),
    ("/mongo", Document, {"number": 1}),
    ("/mongo/big", Document, {"number": 2}),
    ("/sleep", Sleep),
]


def work(sockets, pool):
    asyncio.run(serve(sockets, pool))


async def serve(sockets, pool):
    clients = {}
    if url := os.environ.get("REDIS_URL"):
        clients["redis"] = Redis(connection_pool=BlockingConnectionPool.from_url(url, max_connections=pool))
    if url := os.environ.get("MONGODB_URL"):
        clients["documents"] = AsyncMongoClient(url, maxPoolSize=pool)["webdyno"]["documents"]
    server = HTTPServer(Application(ROUTES, log_function=lambda handler: None, **clients), idle_connection_timeout=60)
    server.add_sockets(sockets)
    await asyncio.Event().wait()


if __name__ == "__main__":
    host, port, workers, pool = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    sockets = bind_sockets(port, host, backlog=1024)
    if workers == 1:
        work(sockets, pool)
    else:
        made = [get_context("fork").Process(target=work, args=(sockets, pool), daemon=True) for _ in range(workers)]
        for process in made:
            process.start()
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # which ends the daemon processes too
        for process in made:
            process.join()
