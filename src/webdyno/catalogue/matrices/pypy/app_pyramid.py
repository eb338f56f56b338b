"""Hello, a counter and 2,000 characters from Redis, with Pyramid."""

from clicks import counter, static
from pyramid.config import Configurator
from pyramid.response import Response


def hello(request):
    return text(b"Hello, World!")


def count(request):
    return text(counter())


def stored(request):
    return text(static())


def text(body):
    return Response(body=body, content_type="text/plain", charset="utf-8")


def application():
    with Configurator() as config:
        for name, path, view in (("hello", "/", hello), ("counter", "/counter", count), ("static", "/static", stored)):
            config.add_route(name, path)
            config.add_view(view, route_name=name)
        return config.make_wsgi_app()


app = application()
