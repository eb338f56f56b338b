"""How the server is spoken to: protocol, TLS, sockets, and what the engine does with its connections and cores."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from webdyno.commands.options import flag, split
from webdyno.load.driver import Tls, Way
from webdyno.model.errors import UsageError

_MOST_AHEAD, _MOST_STREAMS = 256, 1000
_OWN = re.compile(r"localhost|127\.[0-9.]+|\[?::1\]?", re.IGNORECASE)
_CORE = re.compile(r"[0-9]{1,5}")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Speaking:
    """The flags that say over what kind of connections."""

    close: Annotated[bool, flag("--close", help="A new connection for every request.")] = False
    http10: Annotated[bool, flag("--http1.0", "--http10", help="Speak HTTP/1.0.")] = False
    http2: Annotated[
        bool, flag("--http2", help="Speak HTTP/2: over https:// by ALPN, over http:// with prior knowledge.")
    ] = False
    streams: Annotated[int | None, flag("--streams", help="With --http2: concurrent requests on each connection.")] = (
        None
    )
    pipeline: Annotated[
        int | None, flag("--pipeline", help="Requests sent ahead on each connection before their answers.")
    ] = None
    insecure: Annotated[bool, flag("--insecure", help="https://: accept any certificate.")] = False
    cacert: Annotated[Path | None, flag("--cacert", help="https://: trust the certificates of this PEM file.")] = None
    server_name: Annotated[
        str | None, flag("--server-name", help="https://: the name to request and verify, if it is not the URL's.")
    ] = None
    no_resume: Annotated[bool, flag("--no-resume", help="https://: make every handshake a full one.")] = False
    unix: Annotated[Path | None, flag("--unix", help="Connect to this Unix socket; the Host comes from the URL.")] = (
        None
    )
    source: Annotated[
        list[str] | None, flag("--source", help="Local address to connect from (repeatable, used in turn).")
    ] = None
    linger: Annotated[
        Literal["fin", "reset"],
        flag("--linger", help="reset: close with a reset, so that no local port stays in use for a minute."),
    ] = "fin"
    backend: Annotated[
        Literal["auto", "epoll", "io_uring"], flag("--backend", help="How the engine waits for its sockets.")
    ] = "auto"
    threads: Annotated[int, flag("--threads", "-t", help="Threads of the engine.")] = 1
    drivers: Annotated[
        int, flag("--drivers", help="Engines that share the load: connections, rate and requests are totals.")
    ] = 1
    cpus: Annotated[str | None, flag("--cpus", help="Pin the engine's threads to these processors: 0,2-3.")] = None

    def manner(self) -> dict[str, Any]:
        """The fields of a Load that these flags decide; UsageError when they contradict each other."""
        if self.http10 and self.http2:
            raise UsageError("--http1.0 and --http2 exclude each other")
        for name, value, most in (
            ("--pipeline", self.pipeline, _MOST_AHEAD),
            ("--streams", self.streams, _MOST_STREAMS),
        ):
            if value is not None and not 1 <= value <= most:
                raise UsageError(f"{name} {value}: give a whole number from 1 to {most}")
        if self.streams is not None and not self.http2:
            raise UsageError("--streams needs --http2: only HTTP/2 has several concurrent requests on a connection")
        if self.http2 and (self.close or self.pipeline is not None):
            raise UsageError("--http2 keeps its connections and has streams: leave out --close and --pipeline")
        if (self.pipeline or 1) > 1 and (self.http10 or self.close):
            raise UsageError("--pipeline needs HTTP/1.1 and keep-alive: leave out --http1.0 and --close")
        return {
            "keep_alive": not self.close,
            "http": "1.0" if self.http10 else "2" if self.http2 else "1.1",
            "pipeline": self.pipeline or 1,
            "streams": self.streams or 1,
            "drivers": self.drivers,
        }

    def way(self, *, tls: bool, template: bool, seed: int | None) -> Way:
        """How the target is reached; ``tls``: its URL says https."""
        if self.threads < 1:
            raise UsageError(f"--threads {self.threads}: give a whole number of at least 1")
        if self.http2 and template:
            raise UsageError("--template and --http2 exclude each other: requests of HTTP/2 are encoded once")
        return Way(
            tls=self._tls(tls),
            unix=None if self.unix is None else _socket(self.unix),
            sources=tuple(_address(text) for text in split(self.source) or []),
            linger=self.linger,
            backend=self.backend,
            template=template,
            template_seed=1 if seed is None else seed,
        )

    def cores(self) -> tuple[int, ...]:
        """Processors to pin to; none: not pinned."""
        if self.cpus is None:
            return ()
        usable = sorted(os.sched_getaffinity(0))
        found: list[int] = []
        for part in self.cpus.split(","):
            first, dash, last = part.strip().partition("-")
            if not _CORE.fullmatch(first) or (dash and not _CORE.fullmatch(last)):
                raise UsageError(f"--cpus {self.cpus}: write processor numbers, such as 0,2-3")
            found += range(int(first), int(last or first) + 1)
        strange = next((core for core in found if core not in usable), None)
        if strange is not None or not found:
            missing = "no processor is named" if strange is None else f"processor {strange} is not usable here"
            raise UsageError(f"--cpus {self.cpus}: {missing}; there are {', '.join(map(str, usable))}")
        return tuple(dict.fromkeys(found))

    def _tls(self, spoken: bool) -> Tls | None:
        if not spoken:
            given = (self.insecure, self.cacert, self.server_name, self.no_resume)
            if any(given):
                raise UsageError("--insecure, --cacert, --server-name and --no-resume need an https:// URL")
            return None
        if self.insecure and self.cacert is not None:
            raise UsageError(
                "--insecure and --cacert exclude each other: one accepts any certificate, the other only some"
            )
        return Tls(
            verify=not self.insecure,
            roots_pem=None if self.cacert is None else _pem(self.cacert),
            server_name=self.server_name,
            resume=not self.no_resume,
        )


def refuse_unshared(fields: Mapping[str, Any]) -> None:
    """UsageError where the fields of a Load are no work for this many drivers."""
    drivers, connections, requests = fields["drivers"], fields["connections"], fields["count"]
    if drivers == 1:
        return
    if "connection_stages" in fields:
        raise UsageError("--drivers and --stages of connections exclude each other: these stages need a single driver")
    if not 1 <= drivers <= connections:
        raise UsageError(f"--drivers {drivers}: give 1 to {connections}, because each needs at least one connection")
    if requests is not None and requests < drivers:
        raise UsageError(f"--drivers {drivers}: give --requests {drivers} or more, because each needs at least one")


def refuse_near(host: str, speaking: Speaking) -> None:
    """UsageError for what is of this machine, where the load comes from others."""
    given = {"--unix": speaking.unix, "--source": speaking.source, "--cpus": speaking.cpus}
    for name in (name for name, value in given.items() if value):
        raise UsageError(f"{name} is about this machine, and --far loads from another one: leave one of them out")
    if _OWN.fullmatch(host):
        raise UsageError(
            f"from another host, {host} is that host itself: with --far give an address of the server that it reaches"
        )


def _pem(path: Path) -> str:
    try:
        text = path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not PEM text"
        raise UsageError(f"--cacert {path} cannot be read: {reason}") from None
    if "-----BEGIN CERTIFICATE-----" not in text:
        raise UsageError(f"--cacert {path} has no certificate: give a PEM file with BEGIN CERTIFICATE in it")
    return text


def _socket(path: Path) -> str:
    """Absolute, because the engine need not run where it was typed."""
    if not path.is_socket():
        what = "is not a socket" if path.exists() else "does not exist"
        raise UsageError(f"--unix {path} {what}: give the path a server listens on")
    return str(path.absolute())


def _address(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text.strip("[]")))
    except ValueError:
        raise UsageError(f"--source {text}: give an IPv4 or IPv6 address of this machine") from None
