"""Phrases: what became of a claim, in words: who, how much, how sure, compared with whom, and why."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from webdyno.analyse import words
from webdyno.analyse.measures import MEASURES, SCALE
from webdyno.model.claim import Claim, ClaimCase, Measure, Ruling
from webdyno.model.estimate import Estimate
from webdyno.model.load import connections_text
from webdyno.model.verdict import Standing, Verdict

MEASURED: dict[Measure, str] = {
    "rate": "requests/s",
    "p50": "median latency",
    "p66": "p66 latency",
    "p75": "p75 latency",
    "p80": "p80 latency",
    "p90": "p90 latency",
    "p95": "p95 latency",
    "p98": "p98 latency",
    "p99": "p99 latency",
    "latency_mean": "mean latency",
    "latency_stdev": "standard deviation of latency",
    "latency_max": "longest latency",
    "errors": "share of errors",
    "memory": "peak memory",
    "cpu": "CPU in cores",
    "cpu_peak": "highest CPU in cores",
    "cpu_per_request": "CPU per request",
    "requests_per_connection": "requests per connection",
    "kept_alive": "share of connections kept alive",
    "served": "share of connections that got an answer",
    "bytes_per_s": "bytes received per second",
    "bytes_per_answer": "bytes received per answer",
    "gain": "gain from the first to the last third of its life",
}
"""Each measure as the end of "... times the ..."."""


def figure(estimate: Estimate | float, measure: Measure) -> str:
    """A figure with its unit as people read it: ``1.23 ms``, ``48,200/s``, ``61.2 MiB``, ``0.31 %``."""
    value = estimate.value if isinstance(estimate, Estimate) else estimate
    unit = MEASURES[measure][0]
    if unit in ("ns", "ns_per_request"):
        return words.time_ns(estimate) if value else "0"
    if unit == "bytes_per_answer" and value < 2**10:
        return f"{round(value, 0 if value >= 100 else 1):g} bytes"
    if unit in ("bytes", "bytes_per_answer"):
        return words.size(estimate)
    if unit == "bytes_per_s":
        return f"{words.size(estimate)}/s"
    if unit == "share":
        return words.per_cent(value)
    if unit == "per_s":
        return f"{words.plain(estimate)}/s" if isinstance(estimate, Estimate) else words.rate(value)
    if unit == "ratio":
        return f"{words.number(value, 2)}x"
    return words.number(value, max(0, min(2, words.decimals(value, None))))


def claimed(value: float, measure: Measure) -> str:
    """A figure in the units of a Claim, with its unit."""
    return figure(value * SCALE.get(MEASURES[measure][0], 1.0), measure)


def where(verdict: Verdict) -> str:
    """``hello, 64 connections, keep-alive``; a driver that is not our own engine is named."""
    by = "" if verdict.driver == "engine" else f", by {verdict.driver}"
    return f"{verdict.workload}, {verdict.load}{by}"


def loads_of(claim: Claim) -> str:
    """What was to be measured: ``at hello, 100 or 1,000 connections``, ``by ab``."""
    parts = [claim.workload] if claim.workload else []
    if claim.connections:
        numbers = " or ".join(words.count(number) for number in claim.connections)
        parts.append(connections_text(numbers))
    if claim.keep_alive is not None:
        parts.append("keep-alive" if claim.keep_alive else "close")
    by = [f"by {claim.driver}"] if claim.driver else []
    if not parts and by:
        return by[0]
    return "at " + (", ".join([*parts, *by]) or "any of its loads")


def other_loads_of(claim: Claim) -> str:
    """What it is compared with: another workload, another number of connections."""
    parts = [claim.than_workload] if claim.than_workload else []
    if claim.than_connections:
        parts.append(words.count(claim.than_connections, "connection"))
    return ", ".join(parts)


def side(claim: Claim, here: Verdict, other: tuple[str, Verdict] | None) -> str:
    """The other side of a comparison: a figure, or a contender, with its table where that is another one."""
    if other is None:
        return claimed(claim.value or 0.0, claim.measure)
    name, there = other
    return name if there is here else f"{name} ({where(there)})"


def outcomes(standing: Standing) -> str:
    """``died 3 times``."""
    told = [f"{name} in {words.count(number, 'round')}" for name, number in standing.outcomes.items()]
    return words.listing(told) or "no round was run"


def claim_sentence(claim: Claim, case: ClaimCase, ruling: Ruling, cases: Sequence[ClaimCase]) -> str:
    """The comparison that decided, how many agree with it, and the reason; first what keeps it open, where it is."""
    parts = [_fact(claim, case)] if case.estimate is not None else []
    if len(cases) > 1 and case.estimate is not None:
        parts.append(_agreement(claim, ruling, cases))
    told = [case.reason, *parts] if ruling == "cannot tell" else [*parts, case.reason]
    return "; ".join(filter(None, told))


def _agreement(claim: Claim, ruling: Ruling, cases: Sequence[ClaimCase]) -> str:
    """In how many comparisons it is so; of a claim about most of them, also the middle one: of a figure that was
    claimed the middle figure, and not how many times the claimed one that is."""
    number = words.count(len(cases), "comparison")
    if claim.share == 1.0 and ruling == "cannot tell":
        open_, held = (sum(one.ruling == each for one in cases) for each in ("cannot tell", "holds"))
        return f"undecided in {open_} of {number}" + (f", and it holds in {held}" if held else "")
    if claim.share == 1.0:
        return f"so in {sum(one.ruling == ruling for one in cases)} of {number}"
    held = sum(one.ruling == "holds" for one in cases)
    middle = statistics.median(one.estimate.value for one in cases if one.estimate is not None)
    told = f"{middle:.2f}x" if claim.value is None else claimed(claim.value * middle, claim.measure)
    wanted = words.per_cent(claim.share)
    return f"it holds in {held} of {number}, and {wanted} were {_by_whom(claim)}; the median is {told}"


def _by_whom(claim: Claim) -> str:
    """What is compared with: a figure that the article claimed, or one that we ask about."""
    return "asked for here" if claim.ours else "claimed"


def _value(value: float, claim: Claim, times: Estimate) -> str:
    """The figure itself, of which only the ratio to the claimed ``value`` is at hand, with its interval."""
    told = claimed(value * times.value, claim.measure)
    if times.low is None or times.high is None:
        return told
    return f"{told} ({claimed(value * times.low, claim.measure)} to {claimed(value * times.high, claim.measure)})"


def headline(claim: Claim, estimate: Estimate | None, ruling: Ruling, reason: str) -> str:
    """``Awaiting serves 39x what blocking does: it holds, 39.1x (39.0-39.3) here``; empty for what is no headline.

    ``estimate`` is of the comparison that decided, ``reason`` why there is none.
    """
    if not claim.headline:
        return ""
    became = {"holds": "it holds", "does not hold": "it does not hold", "cannot tell": "cannot tell"}[ruling]
    if estimate is None:
        return f"{claim.text}: {became}" + (f", {reason}" if reason else "")
    if estimate.low is None:
        return f"{claim.text}: {became}" + (f", {reason}" if reason else "")
    if claim.value is not None:
        return f"{claim.text}: {became}, {_value(claim.value, claim, estimate)} here"
    bounds = words.interval(estimate)
    return f"{claim.text}: {became}, {words.times(estimate)}" + (f" ({bounds})" if bounds else "") + " here"


def nobody(measure: Measure, one: str, other: str) -> str:
    """Of a share that is exactly zero on both sides."""
    return f"neither {one} nor {other} " + ("failed a request" if measure == "errors" else "kept a connection alive")


def no_lead(claim: Claim, part: float, least: float) -> str:
    """``that is 3 % more at most, and a difference counts from 5 % on``: rounded up, so that it stays true."""
    way = "more" if claim.relation in ("more than", "highest") else "less"
    most = math.ceil(part * 1000) / 10
    return f"that is {most:g} % {way} at most, and a difference counts from {least * 100:g} % on"


def _fact(claim: Claim, case: ClaimCase) -> str:
    """``go has 9.1x (8.8-9.4) the requests/s of node (hello, 50 connections, keep-alive)``.

    ``the requests/s of go is 9,100/s (8,800/s to 9,400/s), 5,000/s was claimed (hello ...)``.
    """
    estimate = case.estimate
    if estimate is None:
        return ""
    bounds = words.interval(estimate)
    told = f"{words.times(estimate)}" + (f" ({bounds})" if bounds else "")
    by = "" if case.driver == "engine" else f", by {case.driver}"
    of = case.than
    route = f"{claim.route} from " if claim.route else ""
    here, measure = f"({case.workload}, {case.load}{by})", MEASURED[claim.measure]
    if claim.value is not None:
        found = _value(claim.value, claim, estimate)
        return f"the {measure} of {route}{case.contender} is {found}, {of} was {_by_whom(claim)} {here}"
    if claim.than_workload or claim.than_connections:  # two tables: each beside its contender
        return f"{route}{case.contender} {here} has {told} the {measure} of {route}{of}"
    return f"{route}{case.contender} has {told} the {measure} of {route}{of} {here}"
