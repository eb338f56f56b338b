"""Reasons: why a comparison of a claim came out as it did, or what keeps it open.

What is undecided has what keeps it open: somebody was held back, or left requests without an answer; the interval
includes what was claimed; or it does not, and yet is not sure enough as one of many. What is decided has
one reason at most: a doubt that touches what was measured and sets the one back that came out worse, and not both. A
closed connection explains no memory, and no lead over another that closes them too.
"""

from __future__ import annotations

import math

from webdyno.analyse import phrases, words
from webdyno.analyse.comparisons import Side
from webdyno.analyse.floors import COUNTED, HELD_BACK
from webdyno.analyse.leeway import NONE, flattering
from webdyno.analyse.rulings import ABOUT, LEAD, Asked, Bounds, Compared, beyond, no_lead, within
from webdyno.model.claim import RATES, REASONS, TIMES, Claim, Measure, Ruling
from webdyno.model.doubt import Doubt

_SPEED: tuple[Measure, ...] = (*RATES, *TIMES, "cpu_per_request")
"""What any of the reasons may explain."""
_ALSO: dict[str, tuple[Measure, ...]] = {
    "closes-connections": ("requests_per_connection", "kept_alive"),
    "silent-close": ("requests_per_connection", "kept_alive", "errors"),
    "wrong-answers": ("errors", "served"),
    "starved-connections": ("errors", "served"),
    "small-backlog": ("errors", "served"),
    "memory-capped": ("memory", "errors"),
    "pool-limited": ("cpu", "cpu_peak"),
    "throttled": ("cpu", "cpu_peak"),
    "uneven-accept": ("cpu", "cpu_peak"),
    "idle-while-slow": ("cpu", "cpu_peak"),
}
"""And what some of them explain beside speed."""
_MORE_IS_WORSE: tuple[Measure, ...] = (*TIMES, "errors", "memory", "cpu", "cpu_peak", "cpu_per_request")


def reason_of(claim: Claim, one: Side, other: Side | None, compared: Compared, asked: Asked, ruling: Ruling) -> str:
    """Why it is ruled so; empty where the figures say it all."""
    found, parts = compared.found, []
    if ruling == "cannot tell":
        parts = _open_because(claim, one, other, compared, asked)
    if other is not None and found.of_nothing:
        parts.append(phrases.nobody(claim.measure, one.name, other.name))
    elif other is not None and not math.isfinite(found.value):
        parts.append(_beside_none(claim, one, other))
    if ruling == "does not hold" and (lead := no_lead(claim, compared.bounds(asked.to_fail))):
        parts.append(phrases.no_lead(claim, lead, LEAD))
    elif ruling != "cannot tell" and not found.of_nothing:
        parts += _explanations(claim, one, other, found.value)[:1]
    return "; ".join(parts)


def _open_because(claim: Claim, one: Side, other: Side | None, compared: Compared, asked: Asked) -> list[str]:
    """What keeps it open: requests without an answer, what held one back, the interval, or that it is one of many."""
    if claim.measure == "errors" and (left := [told for side in (one, other) if side and (told := _left(side))]):
        return left
    found, leeway = compared.found, compared.leeway
    exact = Compared(found, NONE, compared.looks)
    held_back = within(claim, exact.bounds(asked.to_hold)) or beyond(claim, exact.bounds(asked.to_fail))
    point = found.value / leeway[0], found.value * leeway[1]
    if leeway != NONE and (held_back or not _decides(claim, point)) and (limits := _limits(claim, one, other)):
        return limits
    shown = Compared(found, leeway).bounds(1)
    if _decides(claim, shown):
        many = words.count(asked.comparisons, "comparison") if asked.comparisons > 1 else "repeated looks"
        return [f"decided on its own, but not after correcting for {many}"]
    return [f"the interval includes {_border(claim, shown)}"]


def _decides(claim: Claim, bounds: Bounds) -> bool:
    return within(claim, bounds) or beyond(claim, bounds)


def _border(claim: Claim, shown: Bounds) -> str:
    """What the interval lies across; of "about" the nearer end, if one alone."""
    at = claim.times
    if claim.relation in ("highest", "lowest"):
        at = 1.0
    elif claim.relation == "about":
        at *= 1 / ABOUT if shown[0] < at / ABOUT else ABOUT
    if claim.value is not None:
        return phrases.border(claim.value * at, claim.measure)
    return f"{words.number(at, 3).rstrip('0').rstrip('.')}x"


def _limits(claim: Claim, one: Side, other: Side | None) -> list[str]:
    """Who was held back, was seen at its best alone, or counted too few answers for a rate: one of each side."""
    sides = [side for side in (one, other) if side is not None]
    told = [[flattering(claim, side), *_held_back(claim, side)] for side in sides]
    firsts = [next((sentence for sentence in each if sentence), "") for each in told]
    return list(dict.fromkeys(filter(None, firsts)))


def _held_back(claim: Claim, side: Side) -> list[str]:
    kinds = HELD_BACK if claim.measure in TIMES else (*HELD_BACK, COUNTED)
    doubts = [doubt for doubt in side.doubts if doubt.kind in kinds]
    return [doubt.sentence for doubt in doubts if not side.is_spared(claim.measure, doubt)]


def _left(side: Side) -> str:
    """What its requests without an answer could make of its error rate; empty where its interval holds that."""
    share = side.judged.figures.share(side.name, "errors")
    if share is None or share.possible <= (share.estimate.high or 0.0):
        return ""
    return (
        f"{words.count(share.left, 'request')} to {side.name} had no answer when the load ended: if they had "
        f"failed, its error rate would be {words.per_cent(share.possible)}"
    )


def _beside_none(claim: Claim, one: Side, other: Side) -> str:
    """Of a share divided by one that is exactly zero, which is no ratio."""
    share = one.judged.figures.estimate(one.name, claim.measure)
    own = "" if share is None else phrases.figure(share, claim.measure)
    here, there = (f" ({phrases.where(side.judged.verdict)})" for side in (one, other))
    if other.judged is one.judged:
        here = there = ""
    return f"{phrases.measured_of(claim.measure, one.name + here)} is {own}, and that of {other.name}{there} is 0"


def _explanations(claim: Claim, one: Side, other: Side | None, ratio: float) -> list[str]:
    """Doubts that say why a figure is what it is: a best case first, then the commonest."""
    sides = [one] if other is None else [one, other]
    flattered = [sentence for side in sides if (sentence := flattering(claim, side))]
    if other is None:
        worse, spared = one, frozenset[str]()
    else:
        is_worse = (ratio > 1) == (claim.measure in _MORE_IS_WORSE)
        worse, better = (one, other) if is_worse else (other, one)
        spared = frozenset(doubt.kind for doubt in better.doubts)
    found = [doubt for doubt in worse.doubts if _explains(claim, doubt) and doubt.kind not in spared]
    found.sort(key=lambda doubt: REASONS.index(doubt.kind))
    return [*flattered, *(doubt.sentence for doubt in found)]


def _explains(claim: Claim, doubt: Doubt) -> bool:
    """Whether it may be the reason of such a figure."""
    if claim.because:
        return doubt.kind in claim.because
    if doubt.kind not in REASONS or doubt.kind in HELD_BACK:
        return False
    return claim.measure in _SPEED or claim.measure in _ALSO.get(doubt.kind, ())
