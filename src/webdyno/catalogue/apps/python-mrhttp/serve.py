"""serve.py HOST PORT WORKERS: the plain answers as an mrhttp application, in one process and socket per worker."""

import json
import sys

from mrhttp import Application

app = Application()


@app.route("/", _type="text")
def hello(request):
    return "Hello, World!"


@app.route("/json", _type="json")
def answer_json(request):
    return json.dumps({"message": "Hello, World!"})


if __name__ == "__main__":
    app.run(host=sys.argv[1], port=int(sys.argv[2]), cores=int(sys.argv[3]))
