"""The systems of an article as a table: which contender runs each, and what is different from the article."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from webdyno.model.system import Difference, SystemHere
from webdyno.model.verdict import Analysis
from webdyno.report import words
from webdyno.report.sheet import Sheet

_HEAD = ["system", "contender", "differs from the article", "tuned contender"]
_MOST = 3
"""Names of contenders before a number stands for them."""


def systems(analysis: Analysis) -> Iterator[Sheet]:
    """One table, or none where the study is of no article."""
    if not analysis.systems:
        return
    yield Sheet(
        key="systems",
        title="How the article's systems run here",
        says=_for_all(analysis.setting),
        head=_HEAD,
        means=[""] * len(_HEAD),
        rows=[_row(system) for system in analysis.systems],
        texts=len(_HEAD),
    )


def _for_all(differs: Sequence[Difference]) -> str:
    claims = "Only these contenders decide the article's claims, not the tuned ones."
    if not differs:
        return claims
    return f"{claims} All of them differ from the article in this: {_told(differs)}."


def _row(system: SystemHere) -> list[str]:
    told = [_told(system.differs)] if system.differs else []
    told += [system.why] if system.why else []
    nothing = "nothing known" if system.contenders else words.MISSING
    return [
        system.name,
        _names(system.contenders),
        ". ".join(part.rstrip(".") for part in told) or nothing,
        _names(system.tuned) if system.tuned else "",
    ]


def _names(names: Sequence[str]) -> str:
    if not names:
        return words.MISSING
    return ", ".join(names) if len(names) <= _MOST else f"{len(names)} contenders"


def _told(differs: Sequence[Difference]) -> str:
    return "; ".join(f"{it.setting}: {it.here} (article: {it.article})" for it in differs)
