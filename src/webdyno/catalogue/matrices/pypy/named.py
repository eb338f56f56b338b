"""What MODULE:NAME names: the app that a serve script was told."""

from importlib import import_module

WAITING = 300
"""Connections, at least as many as the study has clients."""


def named(text):
    module, _, name = text.partition(":")
    return getattr(import_module(module), name)


def let_connections_wait():
    """On Jython, each connection that its server has not read from yet holds one of ten threads, on which others are
    to be read: with eleven of them waiting, nothing goes on any more. As many threads as connections end that."""
    try:
        import _socket

        _socket._NUM_THREADS = max(_socket._NUM_THREADS, WAITING)
    except (ImportError, AttributeError):
        pass  # no Jython
