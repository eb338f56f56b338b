"""Hello, a counter and 2,000 characters from Redis, with Flask."""

from clicks import counter, static
from flask import Flask, Response

app = Flask(__name__)


@app.route("/")
def hello():
    return Response("Hello, World!", mimetype="text/plain")


@app.route("/counter")
def count():
    return Response(counter(), mimetype="text/plain")


# Flask itself answers everything under /static/, and only that
@app.route("/static")
def stored():
    return Response(static(), mimetype="text/plain")
