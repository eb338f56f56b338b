"""The plain answers as a bare WSGI application (PEP 3333), for every server that speaks WSGI."""

import json

HELLO = b"Hello, World!"


def app(environ, start_response):
    path = environ["PATH_INFO"]
    status, kind = "200 OK", "text/plain; charset=utf-8"
    if path == "/":
        body = HELLO
    elif path == "/json":
        body, kind = json.dumps({"message": "Hello, World!"}).encode(), "application/json"
    else:
        status, body = "404 Not Found", b"not found"
    # without Content-Length some servers answer in chunks and others close the connection
    start_response(status, [("Content-Type", kind), ("Content-Length", str(len(body)))])
    return [body]
