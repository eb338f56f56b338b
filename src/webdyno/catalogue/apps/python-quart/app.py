"""The plain answers as a Quart application."""

from quart import Quart, Response

app = Quart(__name__)


@app.get("/")
async def hello():
    return Response("Hello, World!", mimetype="text/plain")


@app.get("/json")
async def answer_json():
    return {"message": "Hello, World!"}
