"""The page of study pypy with Tornado and a client of Redis for its loop, which serves others while Redis works."""

import os

from redis.asyncio import ConnectionPool, Redis
from tornado.gen import coroutine
from tornado.web import Application, RequestHandler

POOL = ConnectionPool.from_url(os.environ["REDIS_URL"], max_connections=int(os.environ["WEBDYNO_POOL"]))
REDIS = Redis(connection_pool=POOL)  # connects when it is asked first


class Index(RequestHandler):
    @coroutine  # and not async: Jython compiles every file of this folder
    def get(self):
        self.write(b"Hello world! %d\n" % (yield REDIS.incr("webdyno:counter")))
        self.write((yield REDIS.get("webdyno:static")))


app = Application([("/", Index)])
