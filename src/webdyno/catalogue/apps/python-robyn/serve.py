"""serve.py: the plain answers as a Robyn application; it reads its own arguments, and its address from ROBYN_HOST and ROBYN_PORT."""

from robyn import Headers, Response, Robyn

app = Robyn(__file__)
TEXT = {"content-type": "text/plain; charset=utf-8"}


@app.get("/")
async def hello():
    return Response(status_code=200, headers=Headers(TEXT), description="Hello, World!")


@app.get("/json")
async def answer_json():
    return {"message": "Hello, World!"}


if __name__ == "__main__":
    app.start()
