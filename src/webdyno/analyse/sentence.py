"""Sentence: a verdict in plain words.

Who, how much, how sure; ties by name; and "cannot tell yet", with what it would take, when that is the truth.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from webdyno.analyse import words
from webdyno.analyse.compare import equal, rounds_needed, slow_starts_allowed
from webdyno.analyse.estimate import Fit
from webdyno.analyse.floors import (
    COUNTED,
    HELD_BACK,
    LUCK,
    NOT_ITS_OWN,
    flattery,
    handicap,
    is_open_upwards,
    room,
    spares_rate,
)
from webdyno.analyse.pairs import ENOUGH
from webdyno.model.estimate import Estimate
from webdyno.model.verdict import Standing

TOO_MANY_ROUNDS = 60
"""Beyond this the honest advice is not "measure longer" but "the difference does not matter"."""


def verdict_sentence(
    ranked: Sequence[Standing], winners: Sequence[str], fit: Fit | None, voided: Sequence[str], pairs: int | None = None
) -> str:
    """``ranked`` are the contenders that may be compared, best first; ``voided`` those whose figures a doubt voids;
    ``pairs``: how many comparisons are asked at once, when it is not all pairs of ``ranked``."""
    return _answer(ranked, winners, fit, pairs) + _left_out(voided)


def _answer(ranked: Sequence[Standing], winners: Sequence[str], fit: Fit | None, pairs: int | None) -> str:
    if not ranked or fit is None or ranked[0].rate is None:
        return "no contender served this in a way that can be compared"
    first, figure = ranked[0].contender, words.with_interval(ranked[0].rate, "requests/s")
    if len(ranked) == 1:
        return f"{first} served {figure}; there is no other contender to compare it with"
    second = ranked[1].contender
    contrast = fit.contrast(first, second)
    if contrast is None:
        return f"cannot tell yet: {first} is ahead with {figure}, but a ranking needs at least three rounds of each"
    if len(winners) == 1:
        ratio = _ratio(ranked[1], fit.ratio(first, second))
        tiny = ", a difference below 3 % that hardly matters" if equal(fit, first, second) else ""
        return f"{first} served the most: {figure}, {words.times(ratio)} {second} ({words.interval(ratio)}){tiny}"
    return _tie(ranked, winners, fit, pairs or len(ranked) * (len(ranked) - 1) // 2)


def _ratio(second: Standing, plain: Estimate) -> Estimate:
    """How many times the second the first served; the Standing's interval allows for a race's looks."""
    to_best = second.ratio_to_best
    if to_best is None or to_best.low is None or to_best.high is None:
        return plain
    return msgspec.structs.replace(plain, low=1 / to_best.high, high=1 / to_best.low)


def _tie(ranked: Sequence[Standing], winners: Sequence[str], fit: Fit, pairs: int) -> str:
    """The nearest rival decides whether they are equal for all that matters, or more rounds would tell."""
    leader, second = ranked[0], ranked[1]
    contrast = fit.contrast(leader.contender, second.contender)
    rivals = [name for name in winners if name != leader.contender]
    figure = words.with_interval(leader.rate, "requests/s") if leader.rate else ""
    names = words.listing(winners)
    floors = _floors(ranked, winners)
    if floors and (step := _one_step(ranked, winners, floors)) is not None:
        return (
            f"{names} served the most and are equal within one step of their answers, {words.per_cent(step)}: {figure}"
            "; only a longer window would find a smaller difference (--duration)"
        )
    if floors:
        what = "only a quieter machine would" if _unlucky(ranked, floors) else "more rounds would not"
        advice = f"{what} tell, because {_hidden(ranked, floors)} than could be measured"
        return _untold("cannot tell", names, leader.contender, figure, advice)
    if all(equal(fit, leader.contender, name) for name in rivals):
        starts = min(standing.rounds_ok for standing in ranked if standing.contender in winners)
        allowed = words.per_cent(slow_starts_allowed(starts))
        return (
            f"{names} served the most and are practically equal (within 3 %): {figure}; "
            f"{words.count(starts, 'start')} of each cannot rule out that up to {allowed} of starts are slower"
        )
    done = min(leader.rounds_ok, second.rounds_ok)
    by = handicap(leader.doubts, second.doubts)
    needed = None if contrast is None else rounds_needed(contrast, done, pairs, by)
    more = None if needed is None else max(1, needed - done, ENOUGH - done)
    if more is None or more > TOO_MANY_ROUNDS:
        advice = "the difference between the first two is too small to be found in reasonable time"
    else:
        advice = (
            f"about {words.count(more, 'more round')} would separate the first two, if the observed difference is real"
        )
    return _untold("cannot tell yet", names, leader.contender, figure, advice)


def _untold(how: str, names: str, leader: str, figure: str, advice: str) -> str:
    return f"{how} who is first: {names} are tied at the top; {leader} leads with {figure}; {advice}"


def _floors(ranked: Sequence[Standing], winners: Sequence[str]) -> list[str]:
    """Who of ``winners`` was held back, so that its place behind the first says nothing."""
    return [
        standing.contender
        for standing in ranked[1:]
        if standing.contender in winners and is_open_upwards(ranked[0].doubts, standing.doubts, _behind(standing))
    ]


def _hidden(ranked: Sequence[Standing], floors: Sequence[str]) -> str:
    """What measuring may have hidden: that the first was flattered, or that others were held back."""
    held = [standing for standing in ranked if standing.contender in floors and room(standing.doubts) > 1]
    if not held and flattery(ranked[0].doubts) > 1:
        return f"{ranked[0].contender} may be slower"
    return f"{words.listing(floors)} may be faster"


def _one_step(ranked: Sequence[Standing], winners: Sequence[str], floors: Sequence[str]) -> float | None:
    """The step that may hide what lies between the ``winners``, as a share; None where something else does."""
    tied = [standing for standing in ranked if standing.contender in winners]
    doubts = [doubt for standing in tied for doubt in standing.doubts if doubt.kind in (*HELD_BACK, COUNTED)]
    kinds = {doubt.kind for doubt in doubts if not spares_rate(doubt)}
    if kinds != {COUNTED} or len(floors) < len(tied) - 1:
        return None
    return max(room(standing.doubts) for standing in tied) - 1


def _behind(standing: Standing) -> float:
    """How many times faster the first is."""
    return 1.0 if standing.ratio_to_best is None else 1 / standing.ratio_to_best.value


def _unlucky(ranked: Sequence[Standing], floors: Sequence[str]) -> bool:
    """Whether only what another round may lift held them back, or flattered the first."""
    asked = {*floors, *([ranked[0].contender] if flattery(ranked[0].doubts) > 1 else [])}
    doubts = [doubt for standing in ranked if standing.contender in asked for doubt in standing.doubts]
    kinds = {doubt.kind for doubt in doubts if not spares_rate(doubt)}
    held = set(NOT_ITS_OWN) & kinds
    return bool(held) and held <= LUCK


def _left_out(voided: Sequence[str]) -> str:
    if not voided:
        return ""
    are = "is" if len(voided) == 1 else "are"
    return f" ({words.listing(voided)} {are} not ranked: see the doubts)"
