"""Deciding: which figures may decide a comparison in pairs, and what each may spend of the 5 %.

The rate is what people ask for, so it comes first. CPU per request decides where the rate cannot: time that a
neighbour or the hypervisor takes makes a rate smaller and costs a request no more CPU, so on a busy machine a change of
a few per cent shows there before it shows in the rate. Both are looked at, so each has half of the 5 % (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from webdyno.analyse.change import Change, Judgement, judge_pairs
from webdyno.analyse.verdict import FIGURES
from webdyno.analyse.window import Window

DECIDING = ("rate", "cpu_per_request")
"""In this order."""


def share(figure: str, known: Collection[str]) -> float:
    """Part of the 5 % that ``figure`` may spend where those of ``known`` were measured."""
    return 1 / max(1, sum(each in known for each in DECIDING)) if figure in DECIDING else 1.0


Paired = tuple[Window, Window]
"""Of base and of head in one pair."""


def judge(pairs: Sequence[Paired], figure: str, margin: float, most: int | None = None) -> Change:
    """The change of one figure of FIGURES over those of the pairs (of ``most``) that have it on both sides."""
    with_it = _with(pairs, figure)
    of = FIGURES[figure][1]
    return judge_pairs(
        [of(base) or 0.0 for base, _ in with_it],
        [of(head) or 0.0 for _, head in with_it],
        margin,
        higher_is_better=figure == "rate",
        in_blocks=bool(with_it) and all(window.turned is not None for pair in with_it for window in pair),
        share=share(figure, [each for each in DECIDING if _with(pairs, each)]),
        most=most,
    )


def judged(pairs: Sequence[Paired], margin: float, most: int | None = None) -> dict[str, Change]:
    """The change of each deciding figure that was measured."""
    return {figure: judge(pairs, figure, margin, most) for figure in DECIDING if _with(pairs, figure)}


def decide(changes: Mapping[str, Change]) -> tuple[Judgement, str]:
    """What they come to, and the figure that says so. Equality is the rate's alone to say."""
    for figure in DECIDING:
        verdict = changes[figure].verdict if figure in changes else "cannot tell"
        if verdict in ("slower", "faster") or (verdict == "same" and figure == "rate"):
            return verdict, figure
    return "cannot tell", "rate"


def _with(pairs: Sequence[Paired], figure: str) -> list[Paired]:
    """Pairs in which both sides have the figure."""
    return [pair for pair in pairs if all(map(FIGURES[figure][1], pair))]
