"""The plain answers as asynchronous views of Django."""

from django.http import HttpResponse, JsonResponse
from django.urls import path


async def hello(request):
    return HttpResponse("Hello, World!", content_type="text/plain; charset=utf-8")


async def answer_json(request):
    return JsonResponse({"message": "Hello, World!"})


urlpatterns = [path("", hello), path("json", answer_json)]
