"""The plain answers as a Flask application."""

from flask import Flask, Response

app = Flask(__name__)


@app.get("/")
def hello():
    return Response("Hello, World!", mimetype="text/plain")


@app.get("/json")
def answer_json():
    return {"message": "Hello, World!"}
