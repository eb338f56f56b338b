"""The table of doubts: a row for each rule, and nothing in a row that its doubts do not keep."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import sys

import pytest

from tests.analyse.fakes import FINGERPRINT, plan, study
from tests.analyse.test_doubts import PROVOKED
from tests.report.once import analysed
from tests.test_docs import ROOT
from webdyno.analyse import analyse, doubts
from webdyno.analyse.doubts.answers import dead_cell
from webdyno.analyse.doubts.row import EACH, VOIDS, Row
from webdyno.analyse.doubts.table import ROWS, kind_of
from webdyno.model.doubt import Doubt
from webdyno.model.verdict import Analysis


def rules() -> set[object]:
    """Every public function below ``doubts`` that finds a Doubt in something."""
    modules = [
        importlib.import_module(f"{doubts.__name__}.{each.name}") for each in pkgutil.iter_modules(doubts.__path__)
    ]
    functions = [it for module in modules for _, it in inspect.getmembers(module, inspect.isfunction)]
    return {
        it
        for it in functions
        if not it.__name__.startswith("_") and inspect.signature(it).return_annotation == "Doubt | None"
    }


def test_every_rule_has_a_row_and_every_row_a_rule() -> None:
    assert {row.rule for row in ROWS} == rules()
    assert len({row.rule for row in ROWS}) == len(ROWS)


def test_a_rule_is_about_what_its_row_says() -> None:
    taken = {"contender": "Cell", "table": "Table", "study": "Evidence"}
    wrong = [
        row.kind
        for row in ROWS
        if [each.annotation for each in inspect.signature(row.rule).parameters.values()] != [taken[row.about]]
    ]
    assert wrong == []


def test_no_kind_has_two_rows_about_the_same() -> None:
    assert len({(row.kind, row.about) for row in ROWS}) == len(ROWS)


def test_a_limit_is_the_one_that_a_rule_has_under_its_name_and_has_a_unit() -> None:
    analysis = [module for name, module in sys.modules.items() if name.startswith("webdyno.analyse.")]
    for limit in (limit for row in ROWS for limit in row.limits):
        assert limit.unit
        assert any(getattr(module, limit.name, None) == limit.value for module in analysis), limit


def faults(row: Row, found: Doubt) -> list[str]:
    """What a Doubt does otherwise than its row says."""
    said = []
    if found.severity not in row.effect:
        said.append(f"{found.kind} {found.severity}")
    if not any(re.fullmatch(re.sub(r"\\\{\w+\\\}", ".+", re.escape(each)), found.advice) for each in row.advice):
        said.append(f"{found.kind} advises otherwise: {found.advice}")
    if EACH not in row.numbers and not found.numbers.keys() <= set(row.numbers):
        said.append(f"{found.kind} has numbers {sorted(found.numbers.keys() - set(row.numbers))}")
    return said


def all_faults(analysis: Analysis) -> list[str]:
    by = {(row.kind, row.about): row for row in ROWS}
    about = [("study", each) for each in analysis.doubts]
    for verdict in analysis.verdicts:
        about += [("table", each) for each in verdict.doubts]
        about += [("contender", each) for standing in verdict.standings for each in standing.doubts]
    return [fault for where, each in about for fault in faults(by[each.kind, where], each)]


@pytest.mark.parametrize("kind", PROVOKED)
def test_a_doubt_does_what_its_row_says(kind: str) -> None:
    runs, _ = PROVOKED[kind]
    assert all_faults(analyse(plan(runs), FINGERPRINT, runs)) == []


def test_so_do_the_doubts_of_a_whole_study() -> None:
    assert all_faults(analysed(study())) == []


def test_one_that_does_otherwise_would_be_seen() -> None:
    row = next(row for row in ROWS if row.rule is dead_cell)
    told = Doubt(
        kind="dead-cell", severity="voids", subject="a", sentence="", advice="?", numbers={"failed": 1, "x": 2}
    )
    assert faults(row, told) == ["dead-cell advises otherwise: ?", "dead-cell has numbers ['x']"]
    assert "dead-cell shades" in faults(
        Row("dead-cell", "contender", VOIDS, dead_cell, advice=(), numbers=()), _shading(told)
    )


def _shading(of: Doubt) -> Doubt:
    return Doubt(kind=of.kind, severity="shades", subject="", sentence="", advice="")


def test_a_kind_is_known_by_its_rule() -> None:
    assert kind_of(dead_cell) == "dead-cell"


def test_no_other_module_of_the_analysis_or_its_commands_names_a_kind() -> None:
    """A kind that is renamed would be missed there in silence."""
    folder = ROOT / "src" / "webdyno"
    allowed = {("model/verdict.py", "leaks")}  # it knows nothing of the analysis
    named = set()
    for place in ("analyse", "report", "commands", "view", "model"):
        for path in (folder / place).rglob("*.py"):
            at = str(path.relative_to(folder))
            text = path.read_text("utf-8")
            if not at.startswith("analyse/doubts/"):
                named |= {(at, row.kind) for row in ROWS if re.search(rf'kind (==|!=|in) \(?"{row.kind}"', text)}
    assert named == allowed
