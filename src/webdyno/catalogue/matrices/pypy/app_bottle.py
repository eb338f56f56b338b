"""The page of study pypy with Bottle, which sends it in the two parts that the handler yields."""

from bottle import Bottle
from stored import page

app = Bottle()


@app.route("/")
def index():
    for part in page():
        yield part
