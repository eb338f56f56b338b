"""What a session says, on standard error: the ear of the commands."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from webdyno.commands.printing import err
from webdyno.session.saying import LOG


class _Ear(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """One line at once; that nobody reads any more is for the caller to see."""
        err(record.getMessage())


@contextmanager
def heard() -> Iterator[None]:
    """While it is open, what the session says is printed; once, however often it is opened."""
    if any(isinstance(each, _Ear) for each in LOG.handlers):
        yield
        return
    ear, level = _Ear(), LOG.level
    LOG.addHandler(ear)
    LOG.setLevel(logging.INFO)
    try:
        yield
    finally:
        LOG.removeHandler(ear)
        LOG.setLevel(level)
