"""Built: a contender installed on a host, ready to be served, with the versions that were really found."""

from __future__ import annotations

import msgspec


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A runtime that exists on this host."""

    runtime: str
    program: str
    """Absolute path."""
    version: str
    """As it prints it, one line."""
    beside: list[Found] = []
    """What the contender is served with besides (``Contender.beside``), in that order."""
    comes_from: str = ""
    """Who brings it when it is first needed, where it is not there yet; ``program`` is then who does so."""


class Built(msgspec.Struct, frozen=True, kw_only=True):
    """``key`` is the hash of all that went in; contenders with the same requirements share an environment."""

    contender: str
    key: str
    directory: str
    """Where it is served from: the app's sources (and what was compiled from them)."""
    environment: dict[str, str]
    """Added to the environment of the served process; PATH leads with the contender's own programs."""
    versions: dict[str, str]
    """Runtime, and every package of the environment by its name."""
    log: str
    """File with everything the build wrote."""
    seconds: float
    """Time the build took; 0.0 when it came from the cache."""
    contained: bool = False
    """Its command is the client of a container engine, and a container is what serves."""
    port: int | None = None
    """The one it listens on, whatever it is told; None: the one it is told."""
    hidden: dict[str, str] = {}
    """Added as well, placeholders filled, and shown nowhere: the user's, who may have secrets in them."""
