"""serve.py HOST PORT THREADS: the plain answers as a CherryPy application, on the server it brings along."""

import sys

import cherrypy


class Root:
    @cherrypy.expose
    def index(self):
        cherrypy.response.headers["Content-Type"] = "text/plain"
        return "Hello, World!"

    @cherrypy.expose
    @cherrypy.tools.json_out()
    def json(self):
        return {"message": "Hello, World!"}


if __name__ == "__main__":
    cherrypy.config.update(
        {
            "environment": "production",
            "server.socket_host": sys.argv[1],
            "server.socket_port": int(sys.argv[2]),
            "server.thread_pool": int(sys.argv[3]),
            "server.socket_queue_size": 1024,  # 5 unless told
            "server.socket_timeout": 60,
            "log.access_file": "",
            "log.screen": False,
        }
    )
    cherrypy.quickstart(Root())
