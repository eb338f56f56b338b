"""How it is asked: by looping clients, at a rate, in stages, in bursts; for how long, and with what patience."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import Parameter

from webdyno.commands.options import MOST_CONNECTIONS, connections_of, flag
from webdyno.commands.units import LONGEST_LOAD_H, LONGEST_WAIT_H, MOST_PER_S, per_s, rate_of, seconds
from webdyno.model.errors import UsageError
from webdyno.model.load import Stage

_MOST_REQUESTS = 10**15
_STAGE = re.compile(r"(?P<length>[^:\s]+)\s*:\s*(?P<first>[^-]+)(?:-(?P<last>[^-]+))?")
_CONNECTIONS = 64


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Pacing:
    """The flags that make a Load."""

    connections: Annotated[
        int | None,
        flag(
            "--connections",
            "-c",
            help="Clients, each of which waits for its answer; at a rate: connections open from the start. "
            "[default: 64]",
        ),
    ] = None
    duration: Annotated[str | None, flag("--duration", "-d", help="How long. [default: 10s]")] = None
    requests: Annotated[int | None, flag("--requests", "-n", help="Number of requests, instead of a duration.")] = None
    warmup: Annotated[str | None, flag("--warmup", help="Warm-up before counting: 1s. [default: none]")] = None
    opening: Annotated[
        str | None,
        flag(
            "--opening",
            help="Open connections evenly over this part of --warmup before the first request; default: all at once.",
        ),
    ] = None
    rate: Annotated[
        str | None,
        flag("--rate", "-r", help="Requests per second (5000, 5k), however long the answers take: an open load."),
    ] = None
    poisson: Annotated[bool, flag("--poisson", help="With --rate: random arrivals instead of even ones.")] = False
    stages: Annotated[
        str | None,
        flag(
            "--stages",
            help="A rate that changes: '10s:100, 30s:100-1000'. With 'connections' at the end, looping clients that "
            "come and go: '10s:10-100 connections'.",
        ),
    ] = None
    burst: Annotated[
        str | None, flag("--burst", help="SIZE/EVERY: a burst of SIZE requests at intervals of EVERY: 100/50ms.")
    ] = None
    max_connections: Annotated[
        int | None, flag("--max-connections", help="At a rate: maximum number of connections. [default: 10 times -c]")
    ] = None
    drain: Annotated[
        str | None, flag("--drain", help="At a rate: how long to wait at the end for missing answers.")
    ] = None
    seed: Annotated[
        int | None, flag("--seed", help="Seed of --poisson and --template: the same seed repeats the same draws.")
    ] = None
    timeout: Annotated[str, flag("--timeout", help="Longest wait for one answer.")] = "5s"
    connect_timeout: Annotated[
        str | None, flag("--connect-timeout", help="Longest wait for a connection. [default: as --timeout]")
    ] = None

    def pace(self, *, template: bool) -> dict[str, Any]:
        """The fields of a Load that these flags decide; UsageError when they contradict each other."""
        connections = connections_of(_CONNECTIONS if self.connections is None else self.connections)
        if self.requests is not None and not 1 <= self.requests <= _MOST_REQUESTS:
            raise UsageError(f"--requests {self.requests}: give a whole number of at least 1, up to {_MOST_REQUESTS:,}")
        if self.requests is not None and self.duration is not None:
            raise UsageError("--requests and --duration exclude each other: give how many or how long")
        pace = self._schedule()
        timed = self.requests is None and "duration_s" not in pace
        return {
            "connections": connections,
            "count": self.requests,
            "duration_s": seconds(self.duration or "10s", "--duration", LONGEST_LOAD_H) if timed else None,
            **self._what_goes_with(pace, connections, template),
            "warmup_s": seconds(self.warmup, "--warmup", LONGEST_LOAD_H) if self.warmup else 0.0,
            **self._opening(bool(pace)),
            "timeout_s": seconds(self.timeout, "--timeout", LONGEST_WAIT_H),
            **pace,
        }

    @property
    def connect_timeout_s(self) -> float | None:
        """In seconds; None: that of an answer."""
        text = self.connect_timeout
        return None if text is None else seconds(text, "--connect-timeout", LONGEST_WAIT_H)

    def _opening(self, scheduled: bool) -> dict[str, float]:
        """Over how long connections are opened, a part of the warm-up of a closed load."""
        if self.opening is None:
            return {}
        if scheduled:
            raise UsageError("--opening needs a fixed number of looping clients: leave out the schedule")
        opening = seconds(self.opening, "--opening")
        if opening > (seconds(self.warmup, "--warmup") if self.warmup else 0.0):
            raise UsageError(
                f"--opening {self.opening}: this is a part of the warm-up; give --warmup {self.opening} or more"
            )
        return {"opening_s": opening}

    def _schedule(self) -> dict[str, Any]:
        given = {"--rate": self.rate, "--stages": self.stages, "--burst": self.burst}
        named = [name for name, value in given.items() if value is not None]
        if len(named) > 1:
            raise UsageError(f"{' and '.join(named)} exclude each other: a load has one schedule")
        if self.rate is not None:
            return {"rate_per_s": per_s(self.rate, "--rate")}
        if self.burst is not None:
            return _burst(self.burst)
        if self.stages is None:
            return {}
        if self.duration is not None or self.requests is not None:
            raise UsageError("--stages already has the duration: leave out --duration and --requests")
        return _stages(self.stages, self.connections)

    def _what_goes_with(self, pace: dict[str, Any], connections: int, template: bool) -> dict[str, Any]:
        """Flags that mean something only at an open pace, or only with a draw."""
        is_open = bool(pace) and "connection_stages" not in pace
        if not is_open and (self.poisson or self.max_connections is not None or self.drain is not None):
            raise UsageError(
                "--poisson, --max-connections and --drain need --rate: without it the load is closed"
                if self.stages is None
                else "--poisson, --max-connections and --drain need a rate, and these --stages are of connections"
            )
        if self.poisson and self.rate is None:
            raise UsageError("--poisson needs --rate: arrivals in stages and bursts are not random")
        if self.seed is not None and not self.poisson and not template:
            raise UsageError("--seed needs --poisson or --template: nothing else is random")
        if self.seed is not None and self.seed < 0:
            raise UsageError(f"--seed {self.seed}: give a whole number of at least 0")
        if not is_open:
            return {}
        most = connections_of(
            min(10 * connections, MOST_CONNECTIONS) if self.max_connections is None else self.max_connections,
            "--max-connections",
        )
        if most < connections:
            raise UsageError(f"--max-connections {most}: give at least --connections, which is {connections}")
        if self.drain is not None and self.requests is not None:
            raise UsageError("--drain needs a duration: with --requests every answer is waited for")
        drawn = {"poisson": True, "seed": 1 if self.seed is None else self.seed} if self.poisson else {}
        drain = {"drain_s": seconds(self.drain, "--drain", LONGEST_WAIT_H)} if self.drain else {}
        return {"max_connections": most, **drawn, **drain}


def _stages(text: str, connections: int | None) -> dict[str, Any]:
    """``10s:100, 30s:100-1000``, and the same with ``connections`` at the end."""
    body = text.removesuffix("connections").strip()
    of_connections = body != text.strip()
    stages = tuple(_stage(part.strip(), text) for part in body.split(","))
    whole_s = sum(stage.duration_s for stage in stages)
    ends = [end for stage in stages for end in (stage.first, stage.last)]
    if not of_connections:
        if max(ends) > MOST_PER_S or max(ends) == 0:
            raise UsageError(f"--stages {text!r}: give requests per second, above 0 somewhere and up to 10,000,000")
        return {"rate_stages": stages, "duration_s": whole_s}
    if connections is not None:
        raise UsageError("--connections and --stages of connections exclude each other: the stages have the numbers")
    if any(end != int(end) for end in ends) or max(ends) < 1:
        raise UsageError(f"--stages {text!r}: connections are whole numbers, and at least 1 somewhere")
    return {"connection_stages": stages, "duration_s": whole_s, "connections": int(max(ends))}


def _stage(text: str, whole: str) -> Stage:
    match = _STAGE.fullmatch(text)
    ends = [] if match is None else [rate_of(end) for end in (match["first"], match["last"] or match["first"])]
    if match is None or None in ends:
        raise UsageError(
            f"--stages {whole!r}: {text!r} is not a stage; write LENGTH:RATE or LENGTH:FROM-TO, "
            "as in '10s:100, 30s:100-1000'"
        )
    first, last = (end or 0.0 for end in ends)
    return Stage(
        duration_s=seconds(match["length"], "--stages", LONGEST_LOAD_H),
        first=first,
        last=last,
    )


def _burst(text: str) -> dict[str, Any]:
    size, slash, every = text.partition("/")
    if not slash or not size.strip().isdecimal() or int(size) < 1:
        raise UsageError(f"--burst {text!r}: write SIZE/EVERY, as in 100/50ms")
    return {"burst_size": int(size), "burst_every_s": seconds(every.strip(), "--burst", LONGEST_WAIT_H)}
