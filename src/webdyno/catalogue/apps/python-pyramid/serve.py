"""serve.py HOST PORT THREADS: the plain answers as a Pyramid application, on waitress."""

import logging
import sys

from pyramid.config import Configurator
from pyramid.response import Response
from pyramid.view import view_config
from waitress import serve


@view_config(route_name="hello")
def hello(request):
    return Response("Hello, World!", content_type="text/plain")


@view_config(route_name="json", renderer="json")
def answer_json(request):
    return {"message": "Hello, World!"}


def make_app():
    with Configurator() as config:
        config.add_route("hello", "/")
        config.add_route("json", "/json")
        config.scan(sys.modules[__name__])
        return config.make_wsgi_app()


if __name__ == "__main__":
    logging.basicConfig()
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # a line for each request that has to queue
    # 100 connections unless told, and more than that wait unanswered
    serve(
        make_app(), host=sys.argv[1], port=int(sys.argv[2]), threads=int(sys.argv[3]), backlog=1024, connection_limit=2000
    )
