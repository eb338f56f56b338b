"""Phrases: what became of a claim, in words: who, how much, how sure, compared with whom, and why."""

from __future__ import annotations

import math
import statistics
from collections import Counter
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
    "errors": "error rate",
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
"""Each measure as the head of a column."""
_OF: dict[Measure, str] = {
    "rate": "the request rate of {}",
    "requests_per_connection": "the number of requests per connection of {}",
    "kept_alive": "the share of connections kept alive by {}",
    "served": "the share of connections answered by {}",
    "cpu": "the CPU use of {} in cores",
    "cpu_peak": "the peak CPU use of {} in cores",
    "bytes_per_s": "the transfer rate of {}",
    "bytes_per_answer": "the response size of {}",
    "gain": "the speed-up of {} from the first to the last third of its life",
}
"""Each measure as the subject of a sentence, where "the MEASURED of ..." is none."""


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


def border(value: float, measure: Measure) -> str:
    """The figure that a Claim names: a share in full, for "at least < 0.01 %" is no border."""
    if MEASURES[measure][0] == "share" and 0 < value < 1e-4:
        return f"{value * 100:g} %"
    return claimed(value, measure)


def where(verdict: Verdict) -> str:
    """``hello, 64 connections, keep-alive``; a driver that is not our own engine is named."""
    by = "" if verdict.driver == "engine" else f", by {verdict.driver}"
    return f"{verdict.workload}, {verdict.load}{by}"


def loads_of(claim: Claim) -> str:
    """What was to be measured: ``for hello, 100 or 1,000 connections``, ``by ab``."""
    parts = [claim.workload] if claim.workload else []
    if claim.connections:
        numbers = " or ".join(words.count(number) for number in claim.connections)
        parts.append(connections_text(numbers))
    if claim.keep_alive is not None:
        parts.append("keep-alive" if claim.keep_alive else "close")
    by = [f"by {claim.driver}"] if claim.driver else []
    if not parts and by:
        return by[0]
    return "for " + (", ".join([*parts, *by]) or "any of its loads")


def other_loads_of(claim: Claim) -> str:
    """What it is compared with: another workload, another number of connections."""
    parts = [claim.than_workload] if claim.than_workload else []
    if claim.than_connections:
        parts.append(words.count(claim.than_connections, "connection"))
    return ", ".join(parts)


def side(claim: Claim, here: Verdict, other: tuple[str, Verdict] | None) -> str:
    """The other side of a comparison: a figure, or a contender, with its table where that is another one."""
    if other is None:
        return border(claim.value or 0.0, claim.measure)
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
    by = Counter(one.ruling for one in cases)
    if claim.share == 1.0 and ruling == "cannot tell":
        held = f", and holds in {by['holds']}" if by["holds"] else ""
        return f"undecided in {by[ruling]} of {number}{held}"
    if claim.share == 1.0 and by[ruling] == len(cases):
        return f"the same in {'both comparisons' if len(cases) == 2 else f'all {number}'}"
    if claim.share == 1.0:
        return f"it does not hold in {by[ruling]} of {number}"
    middle = statistics.median(one.estimate.value for one in cases if one.estimate is not None)
    told = f"{middle:.2f}x" if claim.value is None else claimed(claim.value * middle, claim.measure)
    wanted = f"{_by_whom(claim)}: at least {words.per_cent(claim.share)}"
    return f"it holds in {by['holds']} of {number} ({wanted}); the median is {told}"


def _by_whom(claim: Claim) -> str:
    """What is compared with: a figure that the article claimed, or one that we ask about."""
    return "asked" if claim.ours else "claimed"


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
    """``that is at most 3 % more, and only 5 % or more counts as a difference``: rounded up, so that it stays true."""
    way = "more" if claim.relation in ("more than", "highest") else "less"
    most = math.ceil(part * 1000) / 10
    return f"that is at most {most:g} % {way}, and only {least * 100:g} % or more counts as a difference"


def measured_of(measure: Measure, who: str) -> str:
    """``the p99 latency of go``: a measure as the subject of a sentence."""
    return _OF.get(measure, f"the {MEASURED[measure]} of {{}}").format(who)


def _fact(claim: Claim, case: ClaimCase) -> str:
    """``go serves 9.1x (8.8-9.4) as many requests per second as node (hello, 50 connections, keep-alive)``.

    ``the p99 latency of go is 0.91x (0.88-0.94) that of node (hello ...)``;
    ``the request rate of go is 9,100/s (8,800/s to 9,400/s), claimed: at least 5,000/s (hello ...)``.
    """
    estimate = case.estimate
    if estimate is None:
        return ""
    bounds = words.interval(estimate)
    told = f"{words.times(estimate)}" + (f" ({bounds})" if bounds else "")
    by = "" if case.driver == "engine" else f", by {case.driver}"
    here = f" ({case.workload}, {case.load}{by})"
    one, other = (f"{claim.route} on {name}" if claim.route else name for name in (case.contender, case.than))
    if claim.value is not None:
        told = f"{_by_whom(claim)}: {claim.relation} {border(claim.value * claim.times, claim.measure)}"
        return f"{measured_of(claim.measure, one)} is {_value(claim.value, claim, estimate)}, {told}{here}"
    if claim.than_workload or claim.than_connections:  # two tables: each beside its contender
        one, here = f"{one}{here}", ""
    if claim.measure == "rate":
        return f"{one} serves {told} as many requests per second as {other}{here}"
    return f"{measured_of(claim.measure, one)} is {told} that of {other}{here}"
