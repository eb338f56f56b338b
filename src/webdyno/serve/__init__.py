"""Serve: a built contender as a running server, proven to be itself, to answer correctly, and to be gone afterwards.

serving.py joins the steps; each of them is one file: ready, ask, verify, probe.
"""

from webdyno.serve.serving import Served, serve

__all__ = ["Served", "serve"]
