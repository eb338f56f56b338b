"""The page of study pypy with cyclone."""

from cyclone.web import Application, RequestHandler
from twisted.internet.defer import inlineCallbacks
from twisted_redis import redis


class Index(RequestHandler):
    @inlineCallbacks
    def get(self):
        clicks = yield redis().incr("webdyno:counter")
        self.write("Hello world! %s\n" % clicks)
        stored = yield redis().get("webdyno:static")
        self.write(stored)


app = Application([("/", Index)])
