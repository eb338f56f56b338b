"""``webdyno check``: how a result is told."""

from __future__ import annotations

import pytest

from webdyno.commands.check import Checked, _print


@pytest.mark.parametrize("skipped", [True, False])
def test_brackets_in_a_problem_are_no_markup(skipped: bool, capsys: pytest.CaptureFixture[str]) -> None:
    problem = "install uvicorn[standard] first [/x]"
    _print(Checked(contender="fast", workload="hello", passed=False, skipped=skipped, problem=problem))
    (line,) = capsys.readouterr().out.splitlines()
    assert line.split() == ["skip" if skipped else "fail", "fast", "hello", *problem.split()]
