"""serve.py HOST PORT THREADS: CherryPy with the server it brings, every setting its default but the log of requests."""

import sys

import cherrypy


class HelloWorld:
    @cherrypy.expose
    def index(self):
        cherrypy.response.headers["Content-Type"] = "text/plain"
        return "Hello, World!"


if __name__ == "__main__":
    cherrypy.config.update(
        {
            "server.socket_host": sys.argv[1],
            "server.socket_port": int(sys.argv[2]),
            "server.thread_pool": int(sys.argv[3]),
            "log.screen": False,
        }
    )
    cherrypy.quickstart(HelloWorld())
