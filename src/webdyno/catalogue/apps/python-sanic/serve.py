"""serve.py HOST PORT WORKERS: the plain answers as a Sanic application; its command line sets no backlog."""

import sys

from sanic import Sanic
from sanic.response import json, text

app = Sanic("plain")
app.config.KEEP_ALIVE_TIMEOUT = 60


@app.get("/")
async def hello(request):
    return text("Hello, World!")


@app.get("/json")
async def answer_json(request):
    return json({"message": "Hello, World!"})


if __name__ == "__main__":
    app.run(
        host=sys.argv[1], port=int(sys.argv[2]), workers=int(sys.argv[3]), backlog=2048, access_log=False, motd=False
    )
