"""The one share of errors: in tables, objectives and one load alike."""

import pytest

from tests.analyse import fakes
from webdyno.analyse.error_share import error_share
from webdyno.analyse.objectives import Course, share_failed
from webdyno.analyse.window import read_window

ERRORS = {"timeout": 5, "unfinished": 400}


def test_what_is_under_way_at_the_end_is_neither_above_nor_below_the_line() -> None:
    assert error_share(ERRORS, 95) == 0.05
    assert error_share({"unfinished": 400}, 0) == 0.0
    assert error_share(ERRORS, 90, overdue=5) == 0.10


def test_a_table_and_an_objective_say_the_same_of_a_run() -> None:
    run = fakes.change_slices(fakes.run(slices=fakes.slices([95.0])), errors=ERRORS)
    window = read_window(run)
    assert window is not None
    summary = {"ok": window.ok, "offered": window.ok + 405, "errors": ERRORS}
    assert window.error_ratio == share_failed(Course(summary, run.slices, run.trial.load)) == pytest.approx(0.05)
