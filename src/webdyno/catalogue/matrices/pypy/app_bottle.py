"""Hello, a counter and 2,000 characters from Redis, with Bottle."""

from bottle import Bottle, response
from clicks import counter, static

app = Bottle()


@app.route("/")
def hello():
    response.content_type = "text/plain; charset=utf-8"
    return "Hello, World!"


@app.route("/counter")
def count():
    response.content_type = "text/plain; charset=utf-8"
    return counter()


@app.route("/static")
def stored():
    response.content_type = "text/plain; charset=utf-8"
    return static()
