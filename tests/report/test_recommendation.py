"""A recommendation is one, in whatever form it is read; and there is none before everybody could have been it."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from tests.analyse.fakes import FINGERPRINT, plan, run
from webdyno.analyse import analyse
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.report.html import render_html
from webdyno.report.json import render_json
from webdyno.report.markdown import render_markdown
from webdyno.report.terminal import render_terminal

RATES = {"go": 10_000.0, "node": 5_000.0}
WHOLE = [run(name, round_=at, rate=rate + at) for at in (1, 2, 3) for name, rate in RATES.items()]
PLAN = plan(WHOLE)


def told(made: Plan, runs: Sequence[Run]) -> tuple[str | None, list[str]]:
    """Who is recommended, and every form of the report."""
    analysis, out = analyse(made, FINGERPRINT, runs), io.StringIO()
    render_terminal(made, FINGERPRINT, runs, analysis, Path("results/x"), Console(file=out, width=200))
    page = html.unescape(render_html(made, FINGERPRINT, runs, analysis))
    forms = [page, render_markdown(made, FINGERPRINT, runs, analysis), out.getvalue()]
    return analysis.recommended, [*forms, render_json(made, FINGERPRINT, runs, analysis).decode()]


def test_a_whole_run_recommends_its_winner() -> None:
    name, forms = told(PLAN, WHOLE)
    assert name == "go"
    assert all(": it served the most" in form for form in forms)


@pytest.mark.parametrize(
    ("runs", "says"),
    [
        (WHOLE[:1], "go and node ran in less than two rounds"),
        (WHOLE[:3], "node ran in less than two rounds"),
        ([WHOLE[0], WHOLE[2], WHOLE[4]], "node ran in less than two rounds"),
        ([*WHOLE[:3], msgspec.structs.replace(WHOLE[3], outcome="interrupted")], "node ran in less than two rounds"),
    ],
)
def test_who_was_not_measured_yet_may_be_the_one_to_take(runs: list[Run], says: str) -> None:
    name, forms = told(PLAN, runs)
    assert name is None
    assert all(f"o contender can be recommended yet: {says}" in form for form in forms)
    assert not any("ake go" in form or "--bind 127.0.0.1:8000" in form for form in forms)


def test_who_is_alone_beat_nobody_and_who_fails_is_not_waited_for() -> None:
    alone = [each for each in WHOLE if each.trial.contender == "go"]
    broken = [msgspec.structs.replace(each, outcome="died", slices=[]) for each in WHOLE if each not in alone]
    for made, runs in ((plan(alone), alone), (PLAN, [*alone, *broken])):
        name, forms = told(made, runs)
        assert name is None
        assert all("o contender can be recommended: only go served, without a rival" in form for form in forms)
    third = [run("rust", round_=at, rate=20_000.0 + at) for at in (1, 2, 3)]
    runs = [*alone, *broken, *third]
    assert told(plan(runs), runs)[0] == "rust"
