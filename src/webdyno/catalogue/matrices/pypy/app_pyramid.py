"""The page of study pypy with Pyramid: one view and no routes."""

from pyramid.config import Configurator
from pyramid.response import Response
from stored import page


def index(request):
    return Response(b"".join(page()))


config = Configurator()
config.add_view(index)
app = config.make_wsgi_app()
