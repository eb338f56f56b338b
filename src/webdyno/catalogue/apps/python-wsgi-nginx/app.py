"""One constant answer as a bare WSGI application, the same as without a proxy."""

HELLO = b"Hello, World!"


def application(environ, start_response):
    start_response("200 OK", [("Content-type", "text/plain"), ("Content-Length", "13")])
    return [HELLO]
