"""Service: what a workload needs beside the contender, a Redis or a MongoDB, and the ways to have one.

File: ``services/NAME.toml``; the sources of an embedded one lie in the folder ``services/NAME`` beside it.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from webdyno.model.built import Found

Protocol = Literal["redis", "mongo"]
WayKind = Literal["url", "program", "embedded"]


class Way(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One way to have a service: the user's own by its URL, a program on PATH, or one that webdyno builds."""

    kind: WayKind
    """url: the one that the service's ``variable`` names in the user's environment, never started nor ended."""
    find: list[str] = []
    """Kind program: programs looked for on PATH, first found wins."""
    serve: list[str] = []
    """Kinds program and embedded: the command; ``{host} {port} {folder}`` and, for a program found, ``{program}``."""
    server: str | None = None
    """Kind embedded: its own name, because over the wire it says it is something else."""
    runtime: str | None = None
    """Kind embedded: what builds and executes it."""
    requires: list[str] = []
    """Kind embedded: exact requirements, the server's own first."""
    build: list[list[str]] = []
    """Kind embedded: commands that build it, where its runtime's usual one will not do."""
    delays: bool = False
    """Kinds program and embedded: it can be made to answer later, as a workload's ``delay_ms`` says."""
    warm_s: float = 0.0
    """Kinds program and embedded: seconds its data is read before the first Trial, for one that is slow at first."""


class Service(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a workload needs beside the contender. File: ``services/NAME.toml``."""

    name: str
    title: str
    """As people say it: Redis, MongoDB."""
    protocol: Protocol
    """How webdyno speaks with it: to see that it is ready, what it is, and to load its data."""
    variable: str
    """Variable of the user's environment that may name one by its URL, and in which contenders get theirs."""
    url: str
    """Of one that webdyno starts, with ``{host}`` and ``{port}``."""
    genuine: str
    """What it is when it is the thing itself; anything else that speaks its protocol is a stand-in and said to be."""
    ways: list[Way]
    """Tried in this order; the first that this machine offers is taken."""
    most_cores: int | None = None
    """Cores it can use, however many it is given; none: all."""
    install: str
    """One line for a person: how to get it when none of the ways is there."""
    ready_s: float = 30.0
    """Seconds from its start to its first answer, at most."""
    stop_s: float = 5.0
    """Seconds it may take to end after SIGTERM, before SIGKILL."""


class FoundService(msgspec.Struct, frozen=True, kw_only=True):
    """A Service as this machine has it: the way taken, and what that way needs."""

    service: Service
    way: Way
    url: str = ""
    """Way url: as the user gave it, with its password."""
    program: str = ""
    """Way program: absolute path."""
    runtime: Found | None = None
    """Way embedded."""


class Backing(msgspec.Struct, frozen=True, kw_only=True):
    """The Service that stood behind a contender in one Run."""

    service: str
    kind: str
    """What it really is: redis-server, valkey, mongod, mongo-java-server ..."""
    version: str
    way: WayKind
    genuine: str
    """What it would be, were it no stand-in."""
    most_cores: int | None = None
    command: list[str] = []
    """As it was started; empty for the user's own."""
    delay_ms: int = 0
    """How much later than at once it answered each question for data."""

    @property
    def is_stand_in(self) -> bool:
        """True when it only speaks the protocol of the genuine one."""
        return self.kind != self.genuine

    @property
    def started(self) -> bool:
        """True when webdyno started it on this machine, on cores of its choice."""
        return self.way != "url"


def without_password(url: str) -> str:
    """``url`` as it may be shown and stored: ``redis://me:***@host`` for ``redis://me:secret@host``.

    Rather too much is hidden than too little: a slash in a password is against the rules, and is met all the same.
    """
    return re.sub(r"(?<=://)([^/@:]*):[^@]*@", r"\1:***@", url)
