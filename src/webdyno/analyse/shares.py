"""Shares: what there is to doubt of each of several drivers of one load. The merged figures hide it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from webdyno.analyse.generator import Strain
from webdyno.analyse.words import per_cent, time_ns
from webdyno.model.load import Load
from webdyno.model.share import Share

LATE_NS = 1_000_000
"""A millisecond after the agreed instant, the uncertainty of its clock included."""
LESS = 0.8
"""Part of its share of the requests."""


def shares_in(summary: Mapping[str, Any]) -> list[Share]:
    """What a last word says of several drivers; empty where there was one, or it cannot be read."""
    try:
        return msgspec.convert(summary.get("drivers", []), list[Share])
    except msgspec.ValidationError:
        return []


def doubts_of(share: Share, shares: Sequence[Share], load: Load) -> Iterator[str]:
    """Sentences about one of them, without its name."""
    if share.processor != shares[0].processor:
        other = shares[0].processor
        yield f"has another processor than {shares[0].name}: {share.processor or 'unknown'}, not {other or 'unknown'}"
    match strain_of(share):
        case Strain(limit="starved", without_core=part):
            yield f"had no core for {per_cent(part or 0.0)} of its time, so its times are not the server's"
        case Strain(limit="busy", busy=part):
            yield f"was busy {per_cent(part or 0.0)} of its time: it was saturated"
    if (skew_ns := share.skew_ns) is not None and skew_ns > LATE_NS:
        unsure = share.before.uncertainty_ns
        yield f"began {time_ns(share.start_late_ns or 0)} late (its clock is known to {time_ns(unsure)})"
    given = part_of(share, shares)
    if given is not None and given < LESS * asked_of(share, shares, load):
        yield f"gave {per_cent(given)} of the requests, and its share is {per_cent(asked_of(share, shares, load))}"
    if share.ended not in ("duration", "count") and any(other.ended != share.ended for other in shares):
        yield f"ended by itself ({share.ended}), and the others continued"


def strain_of(share: Share) -> Strain:
    """What its threads did with their time; unknown where the kernel does not count."""
    span_ns = share.threads * share.span_ns
    known = share.idle_ns is not None and share.run_delay_ns is not None and span_ns > 0
    return Strain(
        busy=max(0.0, 1 - (share.idle_ns or 0) / span_ns) if known else None,
        without_core=min(1.0, (share.run_delay_ns or 0) / span_ns) if known else None,
    )


def part_of(share: Share, shares: Sequence[Share]) -> float | None:
    """Of all requests, those that it carried out; None where there were none."""
    offered = sum(each.offered for each in shares)
    return share.offered / offered if offered else None


def asked_of(share: Share, shares: Sequence[Share], load: Load) -> float:
    """The part of the load that it was given: of a schedule an equal one, else that of its connections."""
    if load.is_open:
        return 1 / len(shares)
    return share.connections / sum(each.connections for each in shares)


def drift_ns(share: Share) -> int | None:
    """By how much its clock moved against ours during the load; None: it was not asked afterwards."""
    return None if share.after is None else share.after.ns - share.before.ns
