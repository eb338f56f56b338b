"""serve.py HOST PORT WORKERS POOL: documents of MongoDB by Motor, in processes that Tornado forks, as study battle's
article ran it. Motor has ended (https://www.mongodb.com/docs/drivers/motor/); python-tornado-db has its successor."""

import os
import sys

from bson.json_util import dumps
from motor.motor_tornado import MotorClient
from tornado.gen import coroutine
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.web import Application, RequestHandler


class Document(RequestHandler):
    def initialize(self, number):
        self.number = number

    @coroutine
    def get(self):
        document = yield self.settings["documents"].find_one({"_id": self.number})
        self.set_header("Content-Type", "application/json")
        self.write(dumps(document))


if __name__ == "__main__":
    host, port, workers, pool = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    application = Application([("/mongo", Document, {"number": 1}), ("/mongo/big", Document, {"number": 2})])
    server = HTTPServer(application)
    server.bind(port, host)
    server.start(workers)
    client = MotorClient(os.environ["MONGODB_URL"], maxPoolSize=pool)  # after the fork: it may not cross one
    application.settings["documents"] = client["webdyno"]["documents"]
    IOLoop.current().start()
