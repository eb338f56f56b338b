"""Order: what goes into a driver and what comes out of it, as types without behaviour; every driver imports them."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec

from webdyno.model.load import Load
from webdyno.model.sample import Phase, Slice
from webdyno.model.workload import Request


class Tls(msgspec.Struct, frozen=True, kw_only=True):
    """How TLS is spoken."""

    verify: bool = True
    """False: any certificate will do."""
    roots_pem: str | None = None
    """The certificates to trust, as PEM text; None: the machine's."""
    server_name: str | None = None
    """What SNI and verification use; None: the host."""
    resume: bool = True
    """False: every handshake is a full one."""


class Way(msgspec.Struct, frozen=True, kw_only=True):
    """How the target is reached and requests are made, beyond what every load tool does; only our engine can."""

    tls: Tls | None = None
    unix: str | None = None
    """Path of a Unix stream socket; host and port then only make the Host header."""
    sources: tuple[str, ...] = ()
    """Local addresses that connections leave from, in turn."""
    linger: Literal["fin", "reset"] = "fin"
    backend: Literal["auto", "epoll", "io_uring"] = "auto"
    template: bool = False
    """``{{counter}}`` and ``{{random}}`` in path, header values and body get a new value for each request."""
    template_seed: int = 1


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What a driver shall do, once: these requests at this target under this load on these cores."""

    host: str
    """IPv4 or IPv6 literal, without brackets, or a name."""
    port: int
    requests: list[Request]
    load: Load
    cores: tuple[int, ...]
    """The driver's cores; empty: not pinned."""
    threads: int | None = None
    """Threads of the load tool; None: one per core, one when not pinned."""
    connect_timeout_s: float | None = None
    """Longest wait for a connection; None: the load's timeout."""
    way: Way = Way()

    @property
    def most_threads(self) -> int:
        """Threads a tool may use: never more than there are connections to deal out."""
        wanted = len(self.cores) if self.threads is None else self.threads
        return max(1, min(wanted, self.load.connections))

    @property
    def authority(self) -> str:
        """``127.0.0.1:8080`` or ``[::1]:8080``, as URLs want it."""
        host = self.host.strip("[]")
        try:
            bracketed = ipaddress.ip_address(host).version == 6
        except ValueError:
            bracketed = False
        return f"[{host}]:{self.port}" if bracketed else f"{host}:{self.port}"


class DriverCommand(msgspec.Struct, frozen=True, kw_only=True):
    """One process to run. ``phase`` is None when the tool goes through the phases by itself and says so."""

    phase: Phase | None
    argv: list[str]
    order: Order
    """What it was made for; reading the output needs to know what was asked."""
    stdin: bytes | None = None
    environment: dict[str, str] = msgspec.field(default_factory=lambda: {"LC_ALL": "C"})
    """Complete: whatever the user's shell holds (proxies, preloads, locales) must not reach a load tool."""
    merge_stderr: bool = False
    """Its last words come on standard error: hand both streams to ``read`` as one."""
    files: dict[str, bytes] = {}
    """By name; they lie in the folder the command is started in, a fresh one that goes when the command has ended."""
    results: str | None = None
    """File in that folder which the tool writes; its lines follow what it printed, once it has ended."""


class PhaseEdge(msgspec.Struct, frozen=True):
    """A phase began (or, for "ended", the last one was over) at an instant of CLOCK_MONOTONIC."""

    phase: Phase | Literal["ended"]
    at_ns: int


class Rested(msgspec.Struct, frozen=True):
    """A driver that takes turns has its connections open and waits for the first one."""

    connections: int


class Summary(msgspec.Struct, frozen=True):
    """The driver's own last word over a phase, as it gave it; ends up in ``Run.summary`` when the phase was steady."""

    fields: dict[str, Any]


class Fault(msgspec.Struct, frozen=True):
    """The tool did not carry the order out; nothing it said before makes a result. Always the last event."""

    message: str
    exit: int | None = None
    """Exit code the tool announced, where it announces one."""


Event = Slice | PhaseEdge | Rested | Summary | Fault


def earlier(event: Event, by_ns: int) -> Event:
    """The event at another clock, which is behind the driver's by so much."""
    match event:
        case Slice(start_ns=int(start_ns)):
            return msgspec.structs.replace(event, start_ns=start_ns - by_ns)
        case PhaseEdge(at_ns=at_ns):
            return msgspec.structs.replace(event, at_ns=at_ns - by_ns)
    return event


Ask = Callable[[Sequence[str]], str]
"""Runs one short command and returns all it printed, both streams together, whatever its exit status. Only the rig
starts processes, so a driver that wants to know its tool's version is handed the means to ask."""
