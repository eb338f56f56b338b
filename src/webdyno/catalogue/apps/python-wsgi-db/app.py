"""Answers that wait on a database, as a bare WSGI application (PEP 3333), for every server that speaks WSGI.

REDIS_URL, MONGODB_URL and WEBDYNO_POOL (connections per process) come from webdyno. Clients are made by the first
request that needs them, so in each worker after it was forked: neither client may cross a fork.
"""

import json
import os
import time
from functools import cache

TEXT, JSON = "text/plain; charset=utf-8", "application/json"
POOL = int(os.environ.get("WEBDYNO_POOL", "10"))


@cache
def redis():
    from redis import BlockingConnectionPool, Redis  # the plain pool raises an error when it is empty

    return Redis(connection_pool=BlockingConnectionPool.from_url(os.environ["REDIS_URL"], max_connections=POOL))


@cache
def documents():
    from pymongo import MongoClient

    return MongoClient(os.environ["MONGODB_URL"], maxPoolSize=POOL)["webdyno"]["documents"]


def counter():
    return TEXT, b"%d" % redis().incr("webdyno:counter")


def static():
    return TEXT, redis().get("webdyno:static")


def small():
    return JSON, json.dumps(documents().find_one({"_id": 1})).encode()


def big():
    return JSON, json.dumps(documents().find_one({"_id": 2})).encode()


def sleep():
    time.sleep(1)
    return TEXT, b"slept"


ROUTES = {"/counter": counter, "/static": static, "/mongo": small, "/mongo/big": big, "/sleep": sleep}


def app(environ, start_response):
    route = ROUTES.get(environ["PATH_INFO"])
    status = "200 OK" if route else "404 Not Found"
    kind, body = route() if route else (TEXT, b"not found")
    start_response(status, [("Content-Type", kind), ("Content-Length", str(len(body)))])
    return [body]
