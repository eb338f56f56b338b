"""The plain answers as a Starlette application."""

from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route


async def hello(request):
    return PlainTextResponse("Hello, World!")


async def answer_json(request):
    return JSONResponse({"message": "Hello, World!"})


app = Starlette(routes=[Route("/", hello), Route("/json", answer_json)])
