"""One constant answer as a bare WSGI application: no path is looked at and nothing is worked out, as in study wsgi's article."""

HELLO = b"Hello, World!"


def application(environ, start_response):
    start_response("200 OK", [("Content-type", "text/plain"), ("Content-Length", "13")])
    return [HELLO]
