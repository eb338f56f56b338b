"""Hello, a counter and 2,000 characters from Redis, with cyclone."""

from cyclone.web import Application, RequestHandler
from twisted.internet.defer import inlineCallbacks
from twisted_redis import redis


class Text(RequestHandler):
    def set_default_headers(self):
        self.set_header("Content-Type", "text/plain; charset=utf-8")


class Hello(Text):
    def get(self):
        self.write("Hello, World!")


class Counter(Text):
    @inlineCallbacks
    def get(self):
        value = yield redis().incr("webdyno:counter")
        self.write(str(value))


class Static(Text):
    @inlineCallbacks
    def get(self):
        value = yield redis().get("webdyno:static")
        self.write(value)


app = Application([("/", Hello), ("/counter", Counter), ("/static", Static)], log_function=lambda handler: None)
