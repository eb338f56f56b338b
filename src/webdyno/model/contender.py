"""Contender, App and Runtime: what can win or lose, the program it serves, and what executes it.

Three small files instead of one clever one; they refer to each other by name, and nothing is inherited.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

RuntimeKind = Literal["python", "python-2", "node", "go", "rust", "jvm", "ruby", "native"]


class Runtime(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Interpreter, compiler or VM: how to get it and how to ask its version. File: ``runtimes/NAME.toml``."""

    name: str
    kind: RuntimeKind
    language: str
    """As people say it: Python, JavaScript, Go."""
    find: list[str]
    """Programs looked for on PATH, first found wins; for kind python: versions handed to ``uv python find``."""
    version: list[str]
    """Arguments after the program that make it print its version, such as ``["--version"]``."""
    minimum: str | None = None
    """Oldest version that will do, compared number by number."""
    package: str | None = None
    """For kind node: the npm package that is the runtime, in one exact version (``bun@1.4.5``). It is brought into the
    cache where ``find`` leads to nothing."""
    integrity: dict[str, str] = {}
    """Of ``package`` and every package it brings along, the hash that npm calls so (``npm view bun@1.4.5
    dist.integrity``): with any other file, or any other package, it is not taken. Empty: what npm finds is taken."""
    install: str
    """One line for a person: how to get it when it is not found."""


class App(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The program served; shared by every server that can serve it. File: ``apps/NAME/app.toml`` beside its sources."""

    name: str
    language: str
    interface: str
    """wsgi, asgi, rsgi, native ...: what a server must speak to serve it."""
    framework: str
    """What it is written with; "none" for a bare interface."""
    requires: list[str] = []
    """Exact requirements of the app itself, added to the contender's."""
    answers: list[str]
    """Names of the workloads it answers."""
    build: list[list[str]] = []
    """Commands run in the copied sources after installing (``["go", "build", ...]``), for kinds that compile."""


class Contender(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Server x app x runtime x worker model, versions pinned. File: ``contenders/NAME.toml``.

    ``serve`` and ``environment`` may use ``{bind} {host} {port} {workers} {threads} {cores} {pool}``; ``{cores}`` is
    the number of cores the rig gives the contender. ``workers`` and ``threads`` are whole numbers or rules over
    ``cores`` such as ``2 * cores + 1``: the rule is part of the result and shown with it.
    """

    name: str
    app: str
    runtime: str
    server: str
    """The server's own name, without settings: gunicorn, uvicorn, tornado ..."""
    model: str
    """How it handles many clients at once: processes, threads, event loop, greenlets, goroutines ..."""
    requires: list[str] = []
    """Exact requirements, as the runtime's installer writes them: ``gunicorn==27.0.1``."""
    overrides: list[str] = []
    """Exact versions taken against what a required package itself asks for, where that no longer builds or runs.
    For kind python."""
    build_with: list[str] = []
    """Exact versions of what packages without a ready-made wheel are built with, where today's no longer can; the
    lock has their hashes. For kind python."""
    needs: str | None = None
    """One line for a person: what it needs of the system, and how to get it; said when the build fails."""
    looks_for: list[str] = []
    """What of ``needs`` can be looked for: programs (``apxs``), C headers (``ev.h``) and libraries (``libuv.so.1``).
    Where one is missing, the contender is skipped, and ``needs`` says what to install."""
    beside: list[str] = []
    """Names of further runtimes it cannot be without: what the system has to bring (nginx, puma), found and recorded
    like its own runtime, and not built."""
    workers: int | str = 1
    threads: int | str = 1
    pool: int | str | None = None
    """Connections to a service that each process may open: a whole number, or a rule over ``cores`` and ``workers``
    such as ``6000 // workers``. Handed on as ``{pool}`` and in the variable WEBDYNO_POOL."""
    serve: list[str]
    environment: dict[str, str] = {}
    answers: list[str] | None = None
    """Workloads it answers, when fewer than its app's."""
    because: str
    """Why it is in the catalogue: a study (battle, blocking, hello, pypy, wsgi) or the upstream link."""
    recommended: str | None = None
    """Link to the official recommendation its settings follow."""
    author: str
    sweep: dict[str, list[int | str]] = {}
    """Settings webdyno may vary, each with the values worth trying."""
    ready_s: float = 20.0
    """Seconds it may take from start to its first correct answer."""
    warmup_s: float | None = None
    """Seconds under load until it is as fast as it gets (a JIT ...), when that is longer than studies wait; reports
    tell it as found in long runs."""
    warmup_requests: int | None = None
    """Answers until then, at least. These decide, for a slow machine gives fewer in the same time: it is loaded until
    it gave that many and gets no faster, for three times ``warmup_s`` at most. That holds before turns, and, for
    a contender measured alone, before a closed load of fixed length by one engine of ours; others get ``warmup_s``."""
    stop_s: float = 5.0
    """Seconds it may take to end after SIGTERM, before SIGKILL."""

    @property
    def is_of_article(self) -> bool:
        """It runs as an article ran it in that year, with settings that nobody would take today: ``uwsgi-as-2016``."""
        return re.search(r"-as-\d{4}$", self.name) is not None

    @property
    def runtimes(self) -> list[str]:
        """Names of all runtimes that have to be there, its own first."""
        return [self.runtime, *self.beside]
