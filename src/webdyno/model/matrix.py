"""Matrix: axes whose every combination is a Contender, unless it is excluded with its reason; one file, not hundreds.

Only reading knows of it: what leaves ``read/`` are ordinary Contenders and Apps.
"""

from __future__ import annotations

import msgspec


class MatrixFramework(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One value of the first axis: a program, written with a framework, in the matrix' folder."""

    framework: str
    """As people say it: Flask, twisted.web."""
    interface: str
    """What a server must speak to serve it: wsgi, or a name of its own where it brings its server along."""
    app: str
    """Where the program is, as its servers expect it: ``app_flask:app``. It replaces ``{app}``."""


class MatrixServer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One value of the second axis: a server and how it is started for each interface it speaks."""

    server: str
    """The server's own name: gunicorn, wsgiref."""
    model: str
    """How it handles many clients at once."""
    serve: dict[str, list[str]]
    """The command for each interface. ``{app}`` is the framework's app, ``{program}`` the runtime's program; the rest
    is as in a contender."""
    workers: int | str = 1
    """As in a contender; 1 for an interface whose command does not say ``{workers}``."""
    threads: int | str = 1
    """As in a contender; 1 for an interface whose command does not say ``{threads}``."""
    pool: int | str | None = None
    """Connections to a service that each process may open, as in a contender."""
    environment: dict[str, str] = {}
    recommended: str | None = None
    """Link to the official recommendation its settings follow."""
    sweep: dict[str, list[int | str]] = {}
    """Settings webdyno may vary, each with the values worth trying."""
    stop_s: float = 5.0
    """Seconds it may take to end after SIGTERM, before SIGKILL."""


class MatrixRuntime(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One value of the third axis: an interpreter, and the versions of everything that work on it."""

    runtime: str
    """Name of a runtime of the catalogue."""
    program: str = "python"
    """What a command of it begins with; it replaces ``{program}``."""
    requires: dict[str, list[str]]
    """Exact requirements of each framework and each server, by its key; an empty list where nothing is needed."""
    ready_s: float = 20.0
    """Seconds a contender may take from start to its first correct answer."""
    warmup_s: float | None = None
    """Seconds of load until its compiler is done with what it serves; no contender on it is given less."""
    warmup_requests: int | None = None
    """Answers until then, as of a contender: these decide, and not the seconds."""


class Exclusion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Combinations that are not contenders: every one of the values named; an axis left out means all its values."""

    frameworks: list[str] = []
    servers: list[str] = []
    runtimes: list[str] = []
    reason: str
    """Why, as a sentence for people."""
    error: str | None = None
    """What was seen when it was tried, word by word."""


class Matrix(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Frameworks x servers x runtimes. File: ``matrices/NAME.toml`` beside the folder NAME with the apps' sources.

    Each combination becomes the contender ``FRAMEWORK-SERVER-RUNTIME``, named after the keys of the three tables.
    """

    name: str
    title: str
    language: str
    """As people say it: Python."""
    answers: list[str]
    """Names of the workloads that every app answers."""
    because: str
    """Why it is in the catalogue: a study (battle, blocking, hello, pypy, wsgi) or the upstream link."""
    author: str
    frameworks: dict[str, MatrixFramework]
    servers: dict[str, MatrixServer]
    runtimes: dict[str, MatrixRuntime]
    exclude: list[Exclusion] = []
