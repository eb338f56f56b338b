"""A view served to tests, asked as a browser asks, and a run in another process that writes what it is told to."""

from __future__ import annotations

import hashlib
import http.client
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from tests.analyse.fakes import FINGERPRINT, plan, run
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.store import Store
from webdyno.view import Server, Shelf
from webdyno.view.answers import Answers
from webdyno.view.server.connections import Limits


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    text: str


@dataclass
class Asked:
    """A server and the way to ask it."""

    server: Server
    complaints: list[str] = field(default_factory=list)

    @property
    def port(self) -> int:
        return self.server.server_port

    def get(self, path: str, method: str = "GET", **headers: str) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, headers=headers)
            reply = connection.getresponse()
            return Answer(reply.status, dict(reply.getheaders()), reply.read().decode())
        finally:
            connection.close()

    def raw(self, request: bytes) -> bytes:
        """Everything that comes back until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as there:
            there.sendall(request)
            there.shutdown(socket.SHUT_WR)
            with there.makefile("rb") as answer:
                return answer.read()

    @contextmanager
    def events(self, path: str) -> Iterator[Iterator[tuple[str, str]]]:
        """Name and data of every event as it comes."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", path, headers={"Accept": "text/event-stream"})
            reply = connection.getresponse()
            assert reply.status == 200
            assert reply.headers["Content-Type"].startswith("text/event-stream")
            with reply:
                yield _events(reply)
        finally:
            connection.close()


def _events(reply: http.client.HTTPResponse) -> Iterator[tuple[str, str]]:
    name, data = "", list[str]()
    while line := reply.readline().decode():
        key, _, value = line.rstrip("\n").partition(": ")
        if key == "event":
            name = value
        elif key == "data":
            data.append(value)
        elif not key and name:
            yield name, "\n".join(data)
            name, data = "", []


@contextmanager
def serving(root: Path, poll_s: float = 0.02, limits: Limits = Limits()) -> Iterator[Asked]:  # noqa: B008 - frozen
    complaints: list[str] = []
    server = Server(Shelf(root), 0, complaints.append, poll_s, limits)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield Asked(server, complaints)
    finally:
        server.end()
        thread.join()


@contextmanager
def answers_held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Answers come when this is set, and no sooner; and the list does not wait for them."""
    free = threading.Event()
    real = Answers._answer

    def late(self: Answers, name: str) -> Any:
        free.wait(60)
        return real(self, name)

    monkeypatch.setattr(Answers, "_answer", late)
    monkeypatch.setattr("webdyno.view.site.PATIENCE_S", 0.0)
    yield free
    free.set()


def made(folder: Path, runs: Sequence[Run], whole: Plan | None = None) -> Path:
    """A results folder at rest."""
    with Store.create(folder, whole or plan(runs), FINGERPRINT) as store:
        for each in runs:
            store.append(each)
    return folder


def rounds(name: str = "go", *, rate: float = 10_000.0, number: int = 3, **changes: Any) -> list[Run]:
    """Rounds of one contender, a little apart."""
    return [run(name, round_=at, rate=rate * (1 + 0.01 * at), **changes) for at in range(1, number + 1)]


def trace(root: Path) -> dict[str, tuple[int, str]]:
    """Every file below ``root`` with its time of change and its content's hash."""
    return {
        str(path.relative_to(root)): (path.stat().st_mtime_ns, hashlib.sha256(path.read_bytes()).hexdigest())
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


_PROGRAM = """
import sys
from pathlib import Path
from tests.analyse.fakes import FINGERPRINT, plan, run
from webdyno import now
from webdyno.model.now import Now
from webdyno.store import Store

folder = Path(sys.argv[1])
runs = [run(name, round_=number, rate=1000.0 * number) for number in (1, 2) for name in ("a", "b")]
with Store.create(folder, plan(runs), FINGERPRINT) as store:
    print("ready", flush=True)
    for line in sys.stdin:
        word, _, at = line.strip().partition(" ")
        if word == "append":
            store.append(runs[int(at)])
        elif word == "now":
            now.write(folder, Now(trial=runs[int(at)].trial, done=int(at), total=4, left_s=75.0, phase="steady",
                                  warmup=[500.0], steady=[1234.0, 4321.0], errors=2))
        elif word == "block":
            turns = {name: [(0.1 * at, 900.0 + at) for at in range(4)] for name in ("a", "b")}
            now.write(folder, Now(trial=runs[0].trial, done=0, total=4, left_s=75.0, phase="turn", beside=["a", "b"],
                                  contender="b", rate_per_s=4321.0, turn=3, passes=11, turns=turns))
        elif word == "end":
            now.clear(folder)
            break
        print("done", flush=True)
print("closed", flush=True)
"""


class Writer:
    """Another process that has a store open and writes to it when it is told to: what a run is to the view."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(folder)],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._read() == "ready"

    def tell(self, order: str) -> None:
        """Returns when it is done."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{order}\n")
        self._process.stdin.flush()
        assert self._read() in ("done", "closed")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()
