"""The back of the HTML report: what failed and was skipped, the machine, versions and commands, how to repeat it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.model.verdict import Analysis
from webdyno.report import failed, words
from webdyno.report.columns import STARTS, head
from webdyno.report.kept import kept
from webdyno.report.markup import Markup, element

_LOG_LINES = 40


def failures(runs: Iterable[Run]) -> Markup | None:
    """Each kind of failure once, with the end of its log."""
    found = failed.failures(runs)
    if not found:
        return None
    shown = [
        element(
            "div",
            element("p", element("b", failure.contender), f" {failure.says} ({failure.outcome}; {failure.where})"),
            element("p", failure.message) if failure.message else None,
            _log(failure.log_tail),
            class_="failure",
        )
        for failure in found
    ]
    return element("section", element("h3", "Failed", id="failed"), element("div", *shown, class_="card"))


def _log(log: str) -> Markup | None:
    end = words.tail(log, _LOG_LINES)
    if not end:
        return None
    return element("details", element("summary", "End of its log"), element("pre", end), open=end.count("\n") < 8)


def skipped(plan: Plan) -> Markup | None:
    """Contenders left out before the start."""
    if not plan.skipped:
        return None
    facts = [(skip.what, skip.reason) for skip in plan.skipped]
    return element("section", element("h3", "Skipped"), element("div", _plain(facts), class_="card"))


def machine(fingerprint: Fingerprint, runs: Sequence[Run]) -> Markup:
    """What it ran on, and how cores and memory were dealt out."""
    facts = words.machine(fingerprint)
    facts += [("Placement", text) for text in dict.fromkeys(words.placement(run.rig) for run in runs)]
    facts += [("Way", text) for text in dict.fromkeys(kept(run.rig) for run in runs)]
    facts += words.services(runs)
    return element("section", element("h3", "Machine", id="machine"), element("div", _plain(facts), class_="card"))


def _plain(facts: Iterable[tuple[str, str]]) -> Markup:
    rows: list[Markup] = []
    for label, text in facts:
        rows += [element("dt", label), element("dd", text)]
    return element("dl", *rows, class_="plain")


class StartRow(NamedTuple):
    """How one contender was started, as texts."""

    contender: str
    workers: str
    environment: dict[str, str]
    command: str
    versions: str

    @property
    def whole(self) -> str:
        """Environment and command, as a shell takes them."""
        return " ".join([*(f"{key}={shlex.quote(value)}" for key, value in self.environment.items()), self.command])


def start_rows(plan: Plan, runs: Sequence[Run]) -> list[StartRow]:
    """How every contender was started, and the versions that were really found; those that never started are not in."""
    last = {run.trial.contender: run for run in runs if run.command}
    return [_start(plan, name, last[name]) for name in sorted(last)]


def starts(plan: Plan, runs: Sequence[Run]) -> Markup:
    """``start_rows`` as a section of the page."""
    rows = [
        element(
            "tr",
            element("td", element("b", row.contender)),
            element("td", row.workers),
            element("td", element("code", row.whole)),
            element("td", row.versions),
        )
        for row in start_rows(plan, runs)
    ]
    table = element("table", head(STARTS), element("tbody", *rows))
    tools = sorted({run.driver_version for run in runs if run.driver_version})
    return element(
        "section",
        element("h3", "Versions and commands", id="starts"),
        element("p", f"Load by {words.listing(tools)}.", class_="lead") if tools else None,
        element("div", element("div", table, class_="scroll starts"), class_="card"),
    )


def _start(plan: Plan, name: str, run: Run) -> StartRow:
    contender = plan.contenders.get(name)
    rule = f" (rule: {contender.workers})" if contender and isinstance(contender.workers, str) else ""
    return StartRow(
        contender=name,
        workers=f"{_known(run.workers)} x {_known(run.threads)}{rule}",
        environment=run.environment,
        command=shlex.join(run.command),
        versions=", ".join(f"{package} {version}" for package, version in run.versions.items()),
    )


def _known(number: int | None) -> str:
    return words.MISSING if number is None else str(number)


def again_flags(plan: Plan) -> str:
    """What makes the same plan again: its rounds, and how it is raced, or that it is not."""
    race = plan.race
    if race is None:
        design = " --in-place" if plan.in_place else "" if plan.further else " --exhaustive"
        return f"--rounds {plan.rounds_of_all}{design}"
    if race.most_runs is not None:
        return f"--rounds {race.most_runs // plan.cells} --top {race.top or 0}"
    budget = "" if race.budget_s is None else f"--budget {race.budget_s:g}s "
    return f"{budget}--precision {race.margin * 100:g}% --top {race.top or 0}"


_ASKING = ("capacity", "compare", "load", "try")
"""Commands that make Plans of their own, which no study leads to."""


def again(plan: Plan) -> str:
    """The command that does all this again, in the same order of runs; of what asks by itself, only which it was."""
    if not plan.arguments and plan.study in _ASKING:
        return f"webdyno {plan.study} ..., as it was called"
    arguments = plan.arguments or [plan.study, *["--brief"] * plan.brief]
    return f"webdyno run {shlex.join(arguments)} --seed {plan.seed} {again_flags(plan)}"


def repeat(plan: Plan, analysis: Analysis) -> Markup:
    """The command that does all this again, and the start command to take away."""
    taken = shlex.join(analysis.recommended_command)
    return element(
        "section",
        element("h3", "How to repeat it", id="again"),
        element(
            "div",
            element("p", "The same study, in the same order of runs, in one command:"),
            element("pre", again(plan)),
            element("p", f"{analysis.recommended}, as it was measured:") if taken else None,
            element("pre", taken) if taken else None,
            class_="card",
        ),
    )
