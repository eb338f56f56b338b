"""The plain answers as a BlackSheep application."""

from blacksheep import Application, get, json, text

app = Application()


@get("/")
async def hello():
    return text("Hello, World!")


@get("/json")
async def answer_json():
    return json({"message": "Hello, World!"})
