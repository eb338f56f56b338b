"""serve_fapws3.py HOST PORT APP: fapws3, libev behind a WSGI of its own; Python 2 only."""

import sys

import fapws._evwsgi as evwsgi
from fapws import base
from named import named


def by_the_book(app):
    """``app`` as fapws3 needs it: its environ is no plain dict, which Pyramid refuses, and it asks what it is given
    for its next part without making an iterator of it, which Django's responses are not."""
    return lambda environ, start_response: iter(app(dict(environ), start_response))


if __name__ == "__main__":
    evwsgi.start(sys.argv[1], sys.argv[2])
    evwsgi.set_base_module(base)
    evwsgi.wsgi_cb(("", by_the_book(named(sys.argv[3]))))
    evwsgi.set_debug(0)
    evwsgi.run()
