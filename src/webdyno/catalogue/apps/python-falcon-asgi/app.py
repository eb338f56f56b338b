"""The plain answers as an asynchronous Falcon application."""

import falcon
import falcon.asgi


class Hello:
    async def on_get(self, req, resp):
        resp.content_type = falcon.MEDIA_TEXT
        resp.text = "Hello, World!"


class Json:
    async def on_get(self, req, resp):
        resp.media = {"message": "Hello, World!"}


app = falcon.asgi.App()
app.add_route("/", Hello())
app.add_route("/json", Json())
