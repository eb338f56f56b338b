"""Is it the app that is slow? Servers that are all alike say so, and the same server with an app that does nothing.

Of CPU only: the part of the app in a request's CPU is a limit where the cores are busy. Where they are idle, the app
waits, and what helps is to let more requests wait at a time.
"""

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
BUSY = 0.7
"""Part of its cores that a server uses from which its CPU is what holds it back; so is one of several that is full."""
SLEEPS, SLEEPS_S = 5.0, 0.005
"""A request that takes this many times its CPU, and so long, waits: shorter ones are slowed by the machine as well."""
FULL = 0.8
"""Part of the clients whose requests are worked on from which it is they who ask for no more."""


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
    """The cores are busy, and nearly all of that is the app's. What waits is held back by something else."""
    waits: bool
    """Its cores are idle under full load."""
    sentence: str


def limit_of(
    name: str,
    winner: Window,
    nothing: Window | None,
    standings: Sequence[Standing],
    server: Callable[[str], str],
    alone_s: float | None = None,
) -> Limit:
    """The limit of what was measured with ``name``; ``server`` names the server of a setting, and a request takes
    ``alone_s`` while nothing else is asked.
    """
    cpu, floor = winner.cpu_per_request_ns, None if nothing is None else nothing.cpu_per_request_ns
    cores, used = len(winner.run.rig.contender_cores), winner.contender_cores
    own = [limit for s in standings if s.contender == winner.run.trial.contender for limit in s.limits]
    kinds = {limit.kind for limit in own}
    busy = used is not None and (used >= BUSY * cores or "one-core" in kinds)
    share = None if not cpu or floor is None else max(0.0, 1 - floor / cpu)
    is_app = busy and share is not None and share >= APP_SHARE
    waits = not busy and ("waiting" in kinds or _sleeps(alone_s, cpu))
    said = [_waiting(name, winner, alone_s)] if waits else []
    said += [f"{name} {limit.says}" for limit in own if limit.kind in ("generator", "memory", "one-core")]
    said += _of_cpu(name, cpu, floor, share, is_app=is_app)
    alike = _alike(standings, server)
    if alike:
        said.append(_of_alike(alike, waits=waits))
    return Limit(
        cpu_per_request_ns=cpu,
        server_cpu_per_request_ns=floor,
        cores_used=used,
        cores=cores,
        alike=alike,
        is_app=is_app,
        waits=waits,
        sentence="; ".join(said),
    )


def _sleeps(alone_s: float | None, cpu_ns: float | None) -> bool:
    """By itself a request takes so much longer than its CPU that it mostly waits, whatever others take of the cores."""
    return alone_s is not None and cpu_ns is not None and alone_s >= max(SLEEPS_S, SLEEPS * cpu_ns / 1e9)


def _waiting(name: str, winner: Window, alone_s: float | None) -> str:
    """What it does not use, how many requests it worked on at a time, and what would make that more."""
    cores, used = len(winner.run.rig.contender_cores), winner.contender_cores or 0.0
    idle = f"with {name} it waits: {used:.1f} of {words.count(cores, 'core')} used under full load"
    if alone_s is None:
        return f"{idle}; more threads, or more connections to whatever it waits for, would let it do more at a time"
    clients, at_once = winner.run.trial.load.connections, winner.rate_per_s * alone_s
    alone = f"a request takes {words.time_ns(alone_s * 1e9)} without other load"
    if at_once >= FULL * clients:
        return f"{idle}; {alone}, so all of the {clients} clients were being served: use more of them (-c)"
    return (
        f"{idle}; {alone}, so about {max(round(at_once), 1)} of the {clients} clients were being served at a time: "
        "more threads or workers, or more connections to what it waits for, would let it do more"
    )


def _of_cpu(name: str, cpu: float | None, floor: float | None, share: float | None, *, is_app: bool) -> list[str]:
    if not cpu or floor is None or share is None:
        return []
    both = (
        f"a request takes {words.time_ns(cpu)} of CPU, and {words.time_ns(floor)} with an app that does nothing on "
        "the same server"
    )
    if is_app:
        return [f"with {name} the app itself is the limit: {both}, so {words.per_cent(share)} is the app's"]
    return [f"with {name}, {both}: {words.per_cent(share)} is the app's, the rest the server's"]


def _of_alike(alike: Sequence[str], *, waits: bool) -> str:
    near = (
        f"{words.listing(alike)} are within {round((ALIKE_RATE - 1) * 100)} % of each other, at nearly the same CPU "
        "for each request"
    )
    return near if waits else f"{near}: another server will not make it faster"


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
