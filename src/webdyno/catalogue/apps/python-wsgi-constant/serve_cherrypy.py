"""serve_cherrypy.py HOST PORT THREADS: CherryPy's own server of 2016 without its framework, a thread for each connection.

The framework of that version does not import on a Python of today (``cannot import name 'escape' from 'cgi'``). Its
server needs nothing of it, so the package is put in place without its ``__init__``.
"""

import socket
import sys
from importlib.util import find_spec
from types import ModuleType

from app import application


def server_class():
    package = ModuleType("cherrypy")
    package.__path__ = list(find_spec("cherrypy").submodule_search_locations)
    sys.modules["cherrypy"] = package
    from cherrypy.wsgiserver import CherryPyWSGIServer

    return CherryPyWSGIServer


if __name__ == "__main__":
    host, port, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    server_class()(
        (host, port),
        application,
        numthreads=threads,
        request_queue_size=500,  # the article's; 5 unless told
        server_name=socket.gethostname(),
    ).start()
