"""app.py, after gevent has made what blocks in the standard library switch greenlets instead."""

from gevent import monkey

monkey.patch_all()

from app import app  # noqa: E402, F401 - patched first
