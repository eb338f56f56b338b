"""Hello, World! as a web.py application that leaves the rest to web.py."""

import web


class Hello:
    def GET(self):
        web.header("Content-Type", "text/plain")
        return "Hello, World!"


application = web.application(("/", "Hello"), globals()).wsgifunc()
