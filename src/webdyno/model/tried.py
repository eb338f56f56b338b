"""Tried: what a tryout was asked and what it found when it began, so that it goes on as the same one when resumed."""

from __future__ import annotations

from typing import Literal

import msgspec

from webdyno.model.workload import Request


class Sources(msgspec.Struct, frozen=True, kw_only=True):
    """Files of a project that are to be as they were. What the application wrote by itself is none of them."""

    names: list[str] = []
    """Below the project's folder; whole paths for those elsewhere."""
    digest: str = ""
    """Of all of them together: that of one alone would let somebody guess what a short file holds."""
    looked_ns: int = 0
    """When, since 1970."""


class Outset(msgspec.Struct, frozen=True, kw_only=True):
    """What depends on the moment it is looked at, and decides on the course of a tryout."""

    ready_s: float
    slowest_s: float
    alone_s: float
    """As the first answers have them."""
    notes: list[str]
    compilers: list[str]
    """At work in the current server."""
    memory_bytes: int | None
    """Free for servers side by side; None: unknown."""
    profiles: bool
    """There is a profiler, for which time is kept."""
    token: str
    """That containers are labelled with."""
    built: dict[str, str]
    """Keys of what was built, by setting, in their order."""
    packages: dict[str, str]
    """Of the project's Python, and the version of that."""
    sources: Sources


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """The flags, and what was found. Values of variables, and of headers that let somebody in, stand in no record."""

    folder: str
    """The project's, whole."""
    budget: str
    """As it was typed; in seconds it is ``budget_s``."""
    budget_s: float
    requests: list[Request]
    by_schema: bool
    is_unsaid: bool
    connections: int
    app: str | None = None
    current: str | None = None
    commands: list[str] = []
    images: list[str] = []
    container_port: int | None = None
    servers: list[str] | None = None
    python: str | None = None
    env_file: str | None = None
    """It is read again."""
    names: list[str] = []
    """Of variables that were given one by one, and have to be given again."""
    interface: Literal["wsgi", "asgi", "rsgi"] | None = None
    outset: Outset
