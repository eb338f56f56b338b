"""Facts: under which conditions figures were measured, in full and in a line."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from webdyno.model.load import connections_text
from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.model.verdict import Analysis
from webdyno.report import course, explain, words
from webdyno.report.markup import Markup, element
from webdyno.report.sides import clause, sides_of


def facts(plan: Plan, fingerprint: Fingerprint, runs: Sequence[Run], analysis: Analysis) -> Markup:
    """Label and text of each, side by side."""
    each = [
        element("div", element("dt", label), element("dd", element("span", text, title=explain.FACTS.get(label))))
        for label, text in _facts(plan, fingerprint, runs, analysis)
    ]
    return element("dl", *each, class_="facts")


_BRIEF = ("Machine", "Load", "Rounds", "Typical interval")


def in_brief(
    plan: Plan, fingerprint: Fingerprint, runs: Sequence[Run], analysis: Analysis, *further: Markup | None
) -> Markup:
    """Those without which no figure should be read, in a line."""
    told = [
        f"intervals {text}" if label == "Typical interval" else f"rounds: {text}" if label == "Rounds" else text
        for label, text in _facts(plan, fingerprint, runs, analysis)
        if label in _BRIEF
    ]
    return element("div", element("p", " · ".join(told), "."), *further, class_="brief")


def _facts(plan: Plan, fingerprint: Fingerprint, runs: Sequence[Run], analysis: Analysis) -> list[tuple[str, str]]:
    return [
        ("Machine", f"{words.count(fingerprint.cores, 'core')}, {words.size(fingerprint.memory_bytes)}"),
        ("Placement", words.cores(runs[-1].rig) if runs else words.MISSING),
        ("Limits", words.limits(runs[-1].rig) if runs else words.MISSING),
        ("Load", words.listing(_loads(plan), 3)),
        ("Rounds", course.rounds(plan, runs)),
        ("Measured", clause(sides_of(runs)) or words.MISSING),
        ("Typical interval", _typical(analysis)),
    ]


def _loads(plan: Plan) -> list[str]:
    """Each kind of load, of closed ones with all its numbers of connections: ``8, 64 and 256 connections, close``."""
    numbers: dict[str, set[int]] = {}
    for load in {trial.load.label: trial.load for trial in plan.trials}.values():
        kind = f"{load.label}, {'open' if load.is_open else 'closed'} loop"
        counted = connections_text(load.connections)
        numbers.setdefault(kind.removeprefix(counted), set()).update([load.connections] * kind.startswith(counted))
    told = {kind: words.listing([words.count(number) for number in sorted(each)], 8) for kind, each in numbers.items()}
    return [f"{connections_text(text)}{kind}" if text else kind for kind, text in told.items()]


def _typical(analysis: Analysis) -> str:
    """Middle of the half-widths of all rates, in per cent."""
    rates = [s.rate for verdict in analysis.verdicts for s in verdict.standings if s.rate]
    wide = [(r.high - r.low) / 2 / r.value for r in rates if r.low is not None and r.high is not None]
    if not wide:
        return "none: too few rounds"
    told = words.per_cent(median(wide))
    return f"below ± {told[2:]}" if told.startswith("<") else f"± {told}"
