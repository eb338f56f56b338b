"""The page of study pypy with Flask."""

from flask import Flask
from stored import page

app = Flask(__name__)


@app.route("/")
def index():
    return b"".join(page())
