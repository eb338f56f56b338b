"""The plain answers as an aiohttp application."""

from aiohttp import web


async def hello(request):
    return web.Response(text="Hello, World!")


async def answer_json(request):
    return web.json_response({"message": "Hello, World!"})


app = web.Application()
app.add_routes([web.get("/", hello), web.get("/json", answer_json)])
