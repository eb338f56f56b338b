"""The page of study pypy, as a resource of twisted.web."""

from twisted.internet.defer import inlineCallbacks
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET
from twisted_redis import redis


class Index(Resource):
    def getChild(self, path, request):
        return self if path == b"" else Resource.getChild(self, path, request)

    def render_GET(self, request):
        gone = []
        request.notifyFinish().addErrback(gone.append)
        self.answer(request, gone).addErrback(request.processingFailed)
        return NOT_DONE_YET

    @inlineCallbacks
    def answer(self, request, gone):
        """Answers when Redis has, and not at all when the client has gone before."""
        clicks = yield redis().incr("webdyno:counter")
        stored = yield redis().get("webdyno:static")
        if not gone:
            request.write((u"Hello world! %s\n%s" % (clicks, stored)).encode("utf-8"))
            request.finish()


app = Index()
