"""Shapes: an article's figures beside ours, as ratios to one contender of the same table."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.analyse.fakes import FINGERPRINT, LOAD, RIG, plan, run
from webdyno.analyse import analyse
from webdyno.model.claim import Original, OriginalFigure, Shape
from webdyno.model.run import Run
from webdyno.model.trial import Skipped
from webdyno.model.verdict import Analysis


def figure(name: str, value: float, connections: int = 50, **changes: Any) -> OriginalFigure:
    return OriginalFigure(contender=name, workload="hello", connections=connections, value=value, **changes)


ORIGINAL = Original(
    source="an article",
    year=2013,
    baseline="tornado",
    cores=4,
    figures=[figure("tornado", 3_000, as_named="Tornado 3.0"), figure("go", 66_000), figure("node", 6_000)],
)


def rounds(name: str, rate: float, **changes: Any) -> list[Run]:
    return [run(name, rate=rate * noise, round_=at, **changes) for at, noise in enumerate((1.0, 1.01, 0.99), 1)]


RUNS = [*rounds("tornado", 10_000), *rounds("go", 50_000), *rounds("node", 20_500)]


def told(runs: list[Run], original: Original = ORIGINAL, **changes: Any) -> Analysis:
    return analyse(plan(runs, original=original, **changes), FINGERPRINT, runs)


def by_name(analysis: Analysis) -> dict[str, Shape]:
    return {shape.contender: shape for shape in analysis.shapes}


def test_each_figure_is_divided_by_the_baseline_of_its_own_table() -> None:
    found = by_name(told(RUNS))
    assert list(found) == ["tornado", "go", "node"]
    go = found["go"]
    assert (go.original_value, go.original) == (66_000, 22.0)
    assert go.here is not None
    assert go.here.value == pytest.approx(5.0, rel=0.01)
    assert go.value is not None
    assert go.value.value == pytest.approx(50_000, rel=0.01)
    assert (go.alike, found["node"].alike) == ("does not hold", "holds")
    assert found["tornado"].as_named == "Tornado 3.0"


def test_a_published_load_stands_only_for_one_of_about_its_size() -> None:
    far = msgspec.structs.replace(LOAD, connections=1000)
    runs = [run(name, rate=9.0, load=far, round_=at) for name in ("tornado", "go") for at in (1, 2)]
    assert told(runs).shapes == []


def test_of_several_published_loads_the_nearest_is_taken() -> None:
    also = [figure("tornado", 1_000, 200), figure("go", 30_000, 200)]
    original = msgspec.structs.replace(ORIGINAL, figures=[*ORIGINAL.figures, *also])
    assert by_name(told(RUNS, original))["go"].connections == 50


def test_whoever_is_missing_is_there_with_the_reason() -> None:
    runs = [each for each in RUNS if each.trial.contender != "node"]
    found = by_name(told(runs, skipped=[Skipped(contender="node", reason="needs node")]))
    assert (found["node"].here, found["node"].reason, found["node"].alike) == (None, "needs node", "cannot tell")
    dead = [run("node", round_=at, outcome="died", slices=[]) for at in (1, 2, 3)]
    assert by_name(told([*runs, *dead]))["node"].reason == "did not serve: died"


def test_without_the_baseline_there_are_no_ratios() -> None:
    runs = [each for each in RUNS if each.trial.contender != "tornado"]
    found = by_name(told(runs))
    assert found["go"].here is None
    assert found["go"].reason == "tornado has no figure to divide by"


def test_each_driver_has_its_own_baseline() -> None:
    by_ab = [*rounds("tornado", 1_000, driver="ab"), *rounds("go", 22_000, driver="ab")]
    found = {(shape.driver, shape.contender): shape for shape in told([*RUNS, *by_ab]).shapes}
    here = found["ab", "go"].here
    assert here is not None
    assert here.value == pytest.approx(22.0, rel=0.01)
    assert found["ab", "go"].alike == "holds"


def test_fewer_cores_than_the_article_had_are_doubted() -> None:
    (doubt,) = [doubt for doubt in told(RUNS).doubts if doubt.kind == "fewer-cores"]
    assert doubt.sentence.startswith(
        "the article gave its servers 4 cores, but here they have 1: servers with workers per core"
    )
    wide = msgspec.structs.replace(RIG, contender_cores=(0, 1, 2, 3))
    four = [msgspec.structs.replace(each, rig=wide) for each in RUNS]
    assert "fewer-cores" not in {doubt.kind for doubt in told(four).doubts}
    unsaid = msgspec.structs.replace(ORIGINAL, cores=None)
    assert "fewer-cores" not in {doubt.kind for doubt in told(RUNS, unsaid).doubts}
