"""The plain answers as a bare RSGI application, granian's own interface."""

import json


async def app(scope, protocol):
    path = scope.path
    status, kind = 200, "text/plain; charset=utf-8"
    if path == "/":
        body = "Hello, World!"
    elif path == "/json":
        body, kind = json.dumps({"message": "Hello, World!"}), "application/json"
    else:
        status, body = 404, "not found"
    protocol.response_str(status, [("content-type", kind)], body)
