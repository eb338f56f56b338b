"""What is said: who, with which settings, by how much, at what cost; all of it from the last comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from webdyno.analyse import words
from webdyno.analyse.blocks import least_variances, meetings
from webdyno.analyse.doubts.fairness import unequal_parallelism
from webdyno.analyse.doubts.table import kind_of
from webdyno.analyse.estimate import Fit, fit
from webdyno.analyse.window import Window
from webdyno.model.doubt import Doubt
from webdyno.model.verdict import Analysis, Estimate, Standing, Verdict
from webdyno.session.tryout.command import CURRENT
from webdyno.session.tryout.fitting import Setting

SWEPT_ON_PURPOSE = (kind_of(unequal_parallelism),)
"""Doubts that are no doubt here: settings differ because they were made to."""


@dataclass(frozen=True)
class Answer:
    """``best`` is the setting to take; None: nothing could be compared."""

    sentence: str
    best: str | None
    verdict: Verdict
    ratio: Estimate | None
    """Of the best to the baseline, or to the next when there is no baseline."""
    against: str | None
    ties: list[str]
    first: str | None = None
    """Who came first, if that is not what runs today: the one to be copied, taken or not."""


def answer_of(
    analysis: Analysis, windows: Sequence[Window], settings: dict[str, Setting], current: str | None
) -> Answer:
    """The first sentence, and what it stands on. ``current`` is --current as it was typed."""
    verdict = analysis.verdicts[0]
    ranked = [standing for standing in verdict.standings if standing.place is not None]
    cells = {(w.run.trial.contender, w.run.trial.round): w.rate_per_s for w in windows}
    rates = fit(cells, met=meetings(windows), least=least_variances(windows))
    if not ranked or rates is None:
        return Answer(f"Nothing can be recommended: {verdict.sentence}.", None, verdict, None, None, [])
    names = {standing.contender: standing for standing in ranked}
    first = ranked[0]
    ties = [name for name in verdict.winners if name != first.contender]
    if CURRENT in names and current is not None:
        return _against_current(first, names, rates, settings, current, verdict, ties)
    answer = _alone(first, ranked, rates, settings, verdict, ties)
    if current is None:
        return answer
    return replace(answer, sentence=f"{answer.sentence} {_reserved(first, verdict, rates, settings, current)}")


def _reserved(first: Standing, verdict: Verdict, rates: Fit, settings: dict[str, Setting], current: str) -> str:
    """What can be said of a current server that is not ranked: the ratio, with what voids its figures."""
    own = next((standing for standing in verdict.standings if standing.contender == CURRENT), None)
    voiding = [doubt for doubt in own.doubts if doubt.severity == "voids"] if own is not None else []
    if CURRENT not in rates.names or not voiding:
        return f"Your current `{current}` is not ranked: see the doubts."
    ratio = rates.ratio(first.contender, CURRENT)
    return (
        f"Your current `{current}` is not ranked ({voiding[0].sentence}). With that reservation, "
        f"{called(settings[first.contender])} serves {_times(ratio)} it."
    )


def _against_current(
    first: Standing,
    names: dict[str, Standing],
    rates: Fit,
    settings: dict[str, Setting],
    current: str,
    verdict: Verdict,
    ties: list[str],
) -> Answer:
    if first.contender == CURRENT:
        rivals = [name for name in names if name != CURRENT]
        ratio = rates.ratio(CURRENT, rivals[0]) if rivals else None
        by = f", {_times(ratio)} {called(settings[rivals[0]])}, the next" if ratio is not None else ""
        return Answer(
            f"On this machine, for this app: keep your current `{current}`; it served the most{by}.",
            CURRENT,
            verdict,
            ratio,
            rivals[0] if rivals else None,
            ties,
        )
    ratio = rates.ratio(first.contender, CURRENT)
    name, change = called(settings[first.contender]), _changes(first, names[CURRENT])
    if ratio.low is None or ratio.low <= 1 or CURRENT in ties:
        by_chance = ", which can be chance when this many are compared" if (ratio.low or 0) > 1 else ""
        sentence = (
            f"On this machine, for this app: nothing tried is faster beyond doubt than your current `{current}`. "
            f"{name} comes first with {_times(ratio)} it{by_chance}{change}; a longer --budget may decide it."
        )
        return Answer(sentence, CURRENT, verdict, ratio, first.contender, ties, first.contender)
    sentence = f"On this machine, for this app: {name}: {_times(ratio)} your current `{current}`{change}."
    return Answer(sentence + _tied(ties, settings), first.contender, verdict, ratio, CURRENT, ties, first.contender)


def _alone(
    first: Standing,
    ranked: Sequence[Standing],
    rates: Fit,
    settings: dict[str, Setting],
    verdict: Verdict,
    ties: list[str],
) -> Answer:
    own = words.with_interval(first.rate, "requests/s") if first.rate else "measured"
    name = called(settings[first.contender])
    others = [each for each in ranked if settings[each.contender].base != settings[first.contender].base]
    if not others:
        sentence = (
            f"On this machine, for this app: {name}: {own}{_figures(first)}; no other server could be compared with it."
        )
        return Answer(sentence, first.contender, verdict, None, None, ties, first.contender)
    ratio = rates.ratio(first.contender, others[0].contender)
    rival = called(settings[others[0].contender])
    sentence = f"On this machine, for this app: {name}: {own}, {_times(ratio)} {rival}{_figures(first)}."
    return replace(
        Answer(sentence + _tied(ties, settings), first.contender, verdict, ratio, others[0].contender, ties),
        first=first.contender,
    )


def called(setting: Setting) -> str:
    """``granian-wsgi, 2 workers, 1 thread``."""
    parts = [f"`{setting.contender.because}`" if setting.is_command else setting.base]
    if setting.workers is not None:
        parts.append(words.count(setting.workers, "worker"))
    if setting.threads is not None:
        parts.append(words.count(setting.threads, "thread"))
    return ", ".join(parts)


def _times(ratio: Estimate) -> str:
    """``1.8x (1.7-1.9x)``."""
    bounds = words.interval(ratio)
    unit = "" if words.is_unknown(ratio) else "x"
    return words.times(ratio) + (f" ({bounds}{unit})" if bounds else "")


def _changes(new: Standing, old: Standing) -> str:
    """``, p99 12 ms instead of 41 ms, 30 MiB more memory``."""
    said = ""
    if new.p99 is not None and old.p99 is not None:
        said += f", p99 {words.time_ns(new.p99)} instead of {words.time_ns(old.p99)}"
    if new.memory_peak is not None and old.memory_peak is not None:
        more = new.memory_peak.value - old.memory_peak.value
        said += f", {words.size(abs(more))} {'more' if more > 0 else 'less'} memory"
    return said


def _figures(standing: Standing) -> str:
    said = f"; p99 {words.time_ns(standing.p99)}" if standing.p99 is not None else ""
    return said + (f", {words.size(standing.memory_peak)} of memory" if standing.memory_peak is not None else "")


def _tied(ties: list[str], settings: dict[str, Setting]) -> str:
    others = [called(settings[name]) for name in ties]
    if not others:
        return ""
    return f" Tied with it: {'; '.join(others)}."


def doubts_of(analysis: Analysis, best: str | None) -> list[Doubt]:
    """About the comparison, about the study, and about who was compared; each kind once for each of whom it is said."""
    verdict = analysis.verdicts[0]
    about = [doubt for standing in verdict.standings for doubt in standing.doubts]
    about.sort(key=lambda doubt: (doubt.severity != "voids", doubt.subject != best))
    found = [*verdict.doubts, *about, *analysis.doubts]
    return [doubt for doubt in found if doubt.kind not in SWEPT_ON_PURPOSE]
