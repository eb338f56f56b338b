"""The page of study pypy with Tornado: its loop waits for Redis, as in the article."""

from stored import page
from tornado.web import Application, RequestHandler


class Index(RequestHandler):
    def get(self):
        for part in page():
            self.write(part)


app = Application([("/", Index)])
