"""Hello, a counter and 2,000 characters from Redis, as resources of twisted.web."""

from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET
from twisted_redis import redis


class Text(Resource):
    def getChild(self, path, request):
        return self if path == b"" else Resource.getChild(self, path, request)

    def render_GET(self, request):
        request.setHeader(b"content-type", b"text/plain; charset=utf-8")
        return self.answer(request)


class Hello(Text):
    def answer(self, request):
        return b"Hello, World!"


class Asked(Text):
    """Answers when Redis has, and not at all when the client has gone before."""

    def answer(self, request):
        gone = []
        request.notifyFinish().addErrback(gone.append)
        asked = self.asked().addCallback(lambda value: gone or self.finish(request, u"%s" % value))
        asked.addErrback(request.processingFailed)
        return NOT_DONE_YET

    def finish(self, request, text):
        body = text.encode("utf-8")
        request.setHeader(b"content-length", str(len(body)).encode())
        request.write(body)
        request.finish()


class Counter(Asked):
    def asked(self):
        return redis().incr("webdyno:counter")


class Static(Asked):
    def asked(self):
        return redis().get("webdyno:static")


app = Hello()
app.putChild(b"counter", Counter())
app.putChild(b"static", Static())
