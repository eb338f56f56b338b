"""Answers that wait on MongoDB as a Flask application.

MONGODB_URL and WEBDYNO_POOL (connections per process) come from webdyno. The client belongs to the process that loads
this module, so a server that forks has to load it afterwards, in each worker: PyMongo's client may not cross a fork.
"""

import os
import time

from flask import Flask, Response, jsonify
from pymongo import MongoClient

app = Flask(__name__)

if url := os.environ.get("MONGODB_URL"):  # not for workloads without a database
    documents = MongoClient(url, maxPoolSize=int(os.environ["WEBDYNO_POOL"]))["webdyno"]["documents"]


@app.get("/mongo")
def small():
    return jsonify(documents.find_one({"_id": 1}))


@app.get("/mongo/big")
def big():
    return jsonify(documents.find_one({"_id": 2}))


@app.get("/sleep")
def sleep():
    time.sleep(1)
    return Response("slept", mimetype="text/plain")
