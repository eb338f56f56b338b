"""What a window's edges can cut of answers in batches, and what a load that ends by its last answer cannot."""

from __future__ import annotations

import pytest

from tests.analyse import fakes
from webdyno.analyse.steps import steps_of
from webdyno.analyse.table import Evidence, tables
from webdyno.model.load import Load

SLEEP = fakes.workload(service_floor_ms=1000.0)


def steps(load: Load) -> float:
    runs = [fakes.run("go", rate=6, load=load, round_=round_) for round_ in (1, 2)]
    plan = fakes.plan(runs, workloads={"hello": SLEEP})
    (table,) = tables(Evidence(plan, fakes.FINGERPRINT, runs))
    return steps_of(table.cells)["go", 1]


@pytest.mark.parametrize(
    ("load", "is_cut"),
    [
        (Load(connections=2, duration_s=6.0, warmup_s=0.0), True),
        (Load(connections=2, count=6, warmup_s=1.0), True),
        (Load(connections=2, count=6, warmup_s=0.0), False),
    ],
)
def test_a_load_that_ends_by_its_last_answer_is_cut_by_no_step(load: Load, is_cut: bool) -> None:
    assert (steps(load) > 0) is is_cut
