"""serve_fapws3.py HOST PORT APP: fapws3, libev behind a WSGI of its own; Python 2 only."""

import sys

import fapws._evwsgi as evwsgi
from fapws import base
from named import named

if __name__ == "__main__":
    evwsgi.start(sys.argv[1], sys.argv[2])
    evwsgi.set_base_module(base)
    app = named(sys.argv[3])
    # it asks an answer for its next part without asking for an iterator first, which fails with Django's
    evwsgi.wsgi_cb(("", lambda environ, start_response: iter(app(environ, start_response))))
    evwsgi.set_debug(0)
    evwsgi.run()
