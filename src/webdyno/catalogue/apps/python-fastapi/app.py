"""The plain answers as a FastAPI application."""

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse

app = FastAPI()


@app.get("/", response_class=PlainTextResponse)
async def hello():
    return "Hello, World!"


@app.get("/json")
async def answer_json():
    return {"message": "Hello, World!"}
