"""The plain answers as a Falcon application."""

import falcon


class Hello:
    def on_get(self, req, resp):
        resp.content_type = falcon.MEDIA_TEXT
        resp.text = "Hello, World!"


class Json:
    def on_get(self, req, resp):
        resp.media = {"message": "Hello, World!"}


app = falcon.App()
app.add_route("/", Hello())
app.add_route("/json", Json())
