"""The plain answers as a Litestar application."""

from litestar import Litestar, MediaType, get


@get("/", media_type=MediaType.TEXT)
async def hello() -> str:
    return "Hello, World!"


@get("/json")
async def answer_json() -> dict[str, str]:
    return {"message": "Hello, World!"}


app = Litestar([hello, answer_json])
