"""serve.py HOST PORT: CherryPy with the server it brings and every setting its default, but for the log of requests."""

import sys

import cherrypy


class HelloWorld:
    @cherrypy.expose
    def index(self):
        cherrypy.response.headers["Content-Type"] = "text/plain"
        return "Hello, World!"


if __name__ == "__main__":
    cherrypy.config.update(
        {"server.socket_host": sys.argv[1], "server.socket_port": int(sys.argv[2]), "log.screen": False}
    )
    cherrypy.quickstart(HelloWorld())
