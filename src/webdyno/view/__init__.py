"""View: results folders as pages on this machine alone: the list, a report, two of them over each other, the run in
progress, and what a Prometheus takes.

It reads stores and nothing else, and leaves no trace in them (``webdyno.wal``). ``Shelf`` finds and reads them,
``Site`` makes pages of them, ``Server`` is the one that listens.
"""

from __future__ import annotations

from webdyno.view.server import Server
from webdyno.view.shelf import Shelf

__all__ = ["Server", "Shelf"]
