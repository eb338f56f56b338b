"""An answer at once, and one by a view that blocks for a second, as views of Django block."""

import time

from django.http import HttpResponse
from django.urls import path


def hello(request):
    return HttpResponse("Hello, World!", content_type="text/plain")


def sleep(request):
    time.sleep(1)
    return HttpResponse("slept", content_type="text/plain")


urlpatterns = [path("", hello), path("sleep/blocking", sleep)]
