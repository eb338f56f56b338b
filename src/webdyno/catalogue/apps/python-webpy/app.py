"""The plain answers as a web.py application."""

import json

import web

web.config.debug = False


class Hello:
    def GET(self):
        return answer("text/plain; charset=utf-8", b"Hello, World!")


class Json:
    def GET(self):
        return answer("application/json", json.dumps({"message": "Hello, World!"}).encode())


def answer(kind, body):
    web.header("Content-Type", kind)
    web.header("Content-Length", str(len(body)))  # without it servers answer in chunks
    return body


app = web.application(("/", "Hello", "/json", "Json"), globals()).wsgifunc()
