"""Documents of MongoDB as a Flask application, by the code path of study battle's article: bson's own JSON encoder.

The client is made where the module is loaded, which may be before a server forks; PyMongo makes its connections anew in
each child. patched.py is the same after gevent has patched the standard library.
"""

import os
import time

from bson.json_util import dumps
from flask import Flask, Response
from pymongo import MongoClient

app = Flask(__name__)

if url := os.environ.get("MONGODB_URL"):  # not for workloads without a database
    documents = MongoClient(url, maxPoolSize=int(os.environ["WEBDYNO_POOL"]))["webdyno"]["documents"]


@app.get("/mongo")
def small():
    return Response(dumps(documents.find_one({"_id": 1})), mimetype="application/json")


@app.get("/mongo/big")
def big():
    return Response(dumps(documents.find_one({"_id": 2})), mimetype="application/json")


@app.get("/sleep")
def sleep():
    time.sleep(1)
    return Response("slept", mimetype="text/plain")
