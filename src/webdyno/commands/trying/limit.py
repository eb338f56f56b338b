"""Is it the app that is slow? Servers that are all alike say so, and the same server with an app that does nothing."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

import msgspec

from webdyno.analyse import words
from webdyno.analyse.window import Window
from webdyno.model.verdict import Standing

ALIKE_RATE, ALIKE_CPU = 1.10, 1.15
"""Greatest quotients of rates and of CPU per request at which servers count as alike."""
APP_SHARE = 0.8
"""Part of the CPU of a request from which the app is called the limit."""
BUSY = 0.15
"""Part of the contender's cores from which what other programs use forbids to say that it waited."""
IDLE = 0.7
"""Part of its cores below which a server under full load is said to wait."""


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of where the time goes; unknown is None."""

    cpu_per_request_ns: float | None
    """Of the winner with the app."""
    server_cpu_per_request_ns: float | None
    """Of the same server and settings with an app that does nothing."""
    cores_used: float | None
    cores: int
    alike: list[str]
    """Servers of the last comparison that are alike in rate and CPU; empty when they are not."""
    is_app: bool
    sentence: str


def limit_of(
    name: str, winner: Window, nothing: Window | None, standings: Sequence[Standing], server: Callable[[str], str]
) -> Limit:
    """The limit of what was measured with ``name``; ``server`` names the server of a setting."""
    cpu, floor = winner.cpu_per_request_ns, None if nothing is None else nothing.cpu_per_request_ns
    cores, used = len(winner.run.rig.contender_cores), winner.contender_cores
    alike = _alike(standings, server)
    share = None if not cpu or floor is None else max(0.0, 1 - floor / cpu)
    is_app = share is not None and share >= APP_SHARE
    said = list(_sentences(name, cpu, floor, share, alike, is_app))
    if used is not None and used < IDLE * cores and _others(winner) < BUSY * cores:
        said.append(
            f"{name} used {used:.1f} of {words.count(cores, 'core')} under full load: for the rest it waited (for a "
            "database, a lock, another service, or the load generator)"
        )
    return Limit(
        cpu_per_request_ns=cpu,
        server_cpu_per_request_ns=floor,
        cores_used=used,
        cores=cores,
        alike=alike,
        is_app=is_app,
        sentence="; ".join(said),
    )


def _others(window: Window) -> float:
    """Cores that programs beside the contender and the driver used: what they took, the contender did not wait for."""
    if window.host_cores is None:
        return 0.0
    return window.host_cores - (window.contender_cores or 0.0) - (window.driver_cores or 0.0)


def _sentences(
    name: str, cpu: float | None, floor: float | None, share: float | None, alike: list[str], is_app: bool
) -> list[str]:
    said = []
    if cpu and floor is not None and share is not None:
        both = (
            f"a request takes {words.time_ns(cpu)} of CPU, and {words.time_ns(floor)} with an app that does nothing on "
            "the same server"
        )
        if is_app:
            said.append(f"with {name} the app itself is the limit: {both}, so {words.per_cent(share)} is the app's")
        else:
            said.append(f"with {name}, {both}: {words.per_cent(share)} is the app's, the rest the server's")
    if alike:
        said.append(
            f"{words.listing(alike)} are within {round((ALIKE_RATE - 1) * 100)} % of each other, at nearly the same "
            "CPU for each request: another server will not make it faster"
        )
    return said


def _alike(standings: Sequence[Standing], server: Callable[[str], str]) -> list[str]:
    """Different servers that are alike, when that is all of those compared."""
    known = [s for s in standings if s.rate is not None and s.cpu_per_request is not None]
    servers = list(dict.fromkeys(server(s.contender) for s in known))
    if len(servers) < 3 or len(known) < len(standings):
        return []
    rates = [s.rate.value for s in known if s.rate is not None]
    cpus = [s.cpu_per_request.value for s in known if s.cpu_per_request is not None]
    near = max(rates) < ALIKE_RATE * min(rates) and max(cpus) < ALIKE_CPU * min(cpus)
    return servers if near else []


def middle(windows: Sequence[Window]) -> Window | None:
    """The Window whose rate is the median."""
    ordered = sorted(windows, key=lambda window: window.rate_per_s)
    return ordered[statistics.median_low(range(len(ordered)))] if ordered else None
