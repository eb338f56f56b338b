"""Place: which other machines a session may use."""

from __future__ import annotations

import msgspec


class Cluster(msgspec.Struct, frozen=True, kw_only=True):
    """What a user says of a cluster that his machine is a node of."""

    address: str
    """``HOST:PORT`` of its head, or ``auto`` on one of its nodes."""
    hosts: int = 1
    """How many of its other hosts make load, each with one driver."""
    allow_public: bool = False
    """Contenders may listen on a public address."""
    fleet: bool = False
    """Contenders are measured on its hosts, each a machine of its own with its own load; not on this one."""
    insecure: bool = False
    """It may be one that asks nobody for a token."""
