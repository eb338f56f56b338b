"""serve.py HOST PORT: Tornado as the article of study blocking ran it: its three handlers, and every setting its default.

The handler that waits asks the loop's own timer and yields, as the article's does. What the article yields, gen.Task, is
gone since Tornado 6.0; a Future that the timer resolves is what it became there.
"""

import sys
import time

from tornado.concurrent import Future
from tornado.gen import coroutine
from tornado.ioloop import IOLoop
from tornado.web import Application, RequestHandler


class Text(RequestHandler):
    def set_default_headers(self):
        self.set_header("Content-Type", "text/plain")


class Instant(Text):
    def get(self):
        self.write("Hello, World!")


class Blocking(Text):
    def get(self):
        time.sleep(1)
        self.write("slept")


class Async(Text):
    @coroutine
    def get(self):
        waited = Future()
        IOLoop.current().add_timeout(time.time() + 1, waited.set_result, None)
        yield waited
        self.write("slept")


application = Application([(r"/", Instant), (r"/sleep/blocking", Blocking), (r"/sleep/async", Async)])

if __name__ == "__main__":
    application.listen(int(sys.argv[2]), sys.argv[1])
    IOLoop.current().start()
