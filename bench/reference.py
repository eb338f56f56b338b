"""The truth server as a with-block: one behaviour, exact books at the end."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from bench.paired import end, start


class Books(NamedTuple):
    """What the server really did."""

    began_ns: int
    connections: int
    requests: int
    right: int
    """Requests answered wholly and correctly."""
    broken: int
    """Requests answered wrongly or not to the end."""
    silent: int
    """Requests never answered."""
    delays_ns: Sequence[int]
    """How long each answer was held back, in the order in which they went out."""
    answered_ns: Sequence[int]
    """When each answer had been written, since ``began_ns``."""


class Reference:
    """Our truth server with one behaviour, on its own cores."""

    def __init__(self, program: Path, behaviour: str, cpus: set[int], *, first: bool = False) -> None:
        self._argv = [str(program), behaviour, "--seconds", "60"]
        self._first = first
        self._cpus = cpus

    def __enter__(self) -> Self:
        self._process = start(self._argv, self._cpus, first=self._first, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdout
        self.port = int(self._process.stdout.readline())
        return self

    def books(self) -> Books:
        """Ends the server; call it once, when the client is done."""
        said, _ = self._process.communicate(timeout=20)
        return Books(**json.loads(said))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._process.stdin:
            self._process.stdin.close()
        end(self._process)
