"""The plain answers as a bare ASGI application (ASGI 3), for every server that speaks ASGI."""

import json

HELLO = b"Hello, World!"


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        return await lifespan(receive, send)
    path = scope["path"]
    status, kind = 200, b"text/plain; charset=utf-8"
    if path == "/":
        body = HELLO
    elif path == "/json":
        body, kind = json.dumps({"message": "Hello, World!"}).encode(), b"application/json"
    else:
        status, body = 404, b"not found"
    headers = [(b"content-type", kind), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def lifespan(receive, send):
    while True:
        message = await receive()
        await send({"type": message["type"] + ".complete"})
        if message["type"] == "lifespan.shutdown":
            return
