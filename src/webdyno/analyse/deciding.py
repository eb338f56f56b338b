"""Deciding: which figures may decide a comparison in pairs, and what each may spend of the 5 %.

The rate is what people ask for, so it comes first. CPU per request decides where the rate cannot: time that a
neighbour or the hypervisor takes makes a rate smaller and costs a request no more CPU, so on a busy machine a change of
a few per cent shows there before it shows in the rate. Both are looked at, so each has half of the 5 % (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from webdyno.analyse.change import Change, Judgement, judge_pairs
from webdyno.analyse.window import Window

DECIDING = ("rate", "cpu_per_request")
"""In this order."""


def share(figure: str, known: Collection[str]) -> float:
    """Part of the 5 % that ``figure`` may spend where those of ``known`` were measured."""
    return 1 / max(1, sum(each in known for each in DECIDING)) if figure in DECIDING else 1.0


def judged(base: Sequence[Window], head: Sequence[Window], margin: float, most: int | None = None) -> dict[str, Change]:
    """The change of each deciding figure over pairs of ``most``, whose windows are ``base[i]`` and ``head[i]``."""
    pairs = list(zip(base, head, strict=True))
    sides = {
        figure: [each for each in ((_figure(one, figure), _figure(other, figure)) for one, other in pairs) if all(each)]
        for figure in DECIDING
    }
    known = {figure: ([one for one, _ in both], [other for _, other in both]) for figure, both in sides.items() if both}
    in_blocks = all(window.turned is not None for window in [*base, *head])
    return {
        figure: judge_pairs(
            *both,
            margin,
            higher_is_better=figure == "rate",
            in_blocks=in_blocks,
            share=share(figure, known),
            most=most,
        )
        for figure, both in known.items()
    }


def decide(changes: Mapping[str, Change]) -> tuple[Judgement, str]:
    """What they come to, and the figure that says so. Equality is the rate's alone to say."""
    for figure in DECIDING:
        verdict = changes[figure].verdict if figure in changes else "cannot tell"
        if verdict in ("slower", "faster") or (verdict == "same" and figure == "rate"):
            return verdict, figure
    return "cannot tell", "rate"


def _figure(window: Window, figure: str) -> float:
    """0 where it was not measured."""
    return (window.rate_per_s if figure == "rate" else window.cpu_per_request_ns) or 0.0
