"""In place: a server that outlives its Trial, so that the next round of the same cell is measured on the same start."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

from webdyno.model.contender import Contender
from webdyno.model.workload import Workload
from webdyno.serve.serving import Served, serve


class InPlace:
    """Serves like ``serve``, but keeps the server while more rounds of its cell come. A with-block that ends it."""

    def __init__(self) -> None:
        self.more = False
        """Whether the next Trial is another round of the same cell; said before each."""
        self._kept: Served | None = None
        self._cell = ("", "")
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._end()

    @contextlib.contextmanager
    def serve(self, contender: Contender, workload: Workload, *rest: Any) -> Iterator[Served]:
        """As ``serve``. A server that a Trial left otherwise than sound is ended with it, and the next one is new."""
        cell, served = (contender.name, workload.name), self._kept
        if served is None or cell != self._cell or served.group.has_ended():
            self._end()
            served = self._open.enter_context(serve(contender, workload, *rest))
        else:
            served.reused = True
            served.notes.clear()  # the Run before told them
        self._kept, self._cell, served.sound = None, cell, False
        try:
            yield served
            if self.more and served.sound:
                self._kept = served
        finally:
            if self._kept is None:
                self._end()

    def _end(self) -> None:
        self._kept = None
        self._open.close()
