"""Hello, a counter and 2,000 characters from Redis, with Tornado."""

import os

from redis.asyncio import BlockingConnectionPool, Redis
from tornado.gen import coroutine
from tornado.web import Application, RequestHandler

POOL = BlockingConnectionPool.from_url(
    os.environ.get("REDIS_URL", "redis://"), max_connections=int(os.environ["WEBDYNO_POOL"])
)
REDIS = Redis(connection_pool=POOL)  # connects when it is asked first


class Text(RequestHandler):
    def set_default_headers(self):
        self.set_header("Content-Type", "text/plain; charset=utf-8")


class Hello(Text):
    def get(self):
        self.write("Hello, World!")


class Counter(Text):
    @coroutine
    def get(self):
        self.write(str((yield REDIS.incr("webdyno:counter"))))


class Static(Text):
    @coroutine
    def get(self):
        self.write((yield REDIS.get("webdyno:static")))


app = Application([("/", Hello), ("/counter", Counter), ("/static", Static)], log_function=lambda handler: None)
