"""The page of study pypy with Django: settings, routes and views in one file."""

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
from stored import page

try:
    from django.urls import re_path
except ImportError:  # Django 1.11, the last for Python 2
    from django.conf.urls import url as re_path

if not settings.configured:
    settings.configure(
        ALLOWED_HOSTS=["*"],
        DEBUG=False,
        LOGGING_CONFIG=None,
        # it sets Content-Length; without it an answer is sent in chunks, or ends with the connection
        MIDDLEWARE=["django.middleware.common.CommonMiddleware"],
        ROOT_URLCONF=__name__,
        SECRET_KEY="not a secret: it signs nothing",
    )


def index(request):
    return HttpResponse(b"".join(page()))


urlpatterns = [re_path(r"^$", index)]
app = get_wsgi_application()
