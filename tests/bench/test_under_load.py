"""The share of time under load is counted from what drivers reported."""

from __future__ import annotations

import msgspec
import pytest

from bench import under_load
from tests.analyse.turning import block_of


def test_every_phase_is_load_and_what_is_left_is_none() -> None:
    runs = [msgspec.structs.replace(run, seconds=4.0) for run in block_of({"a": [100] * 5, "b": [200] * 5})]
    spent = under_load.seconds(runs)
    assert spent == pytest.approx({"warmup": 1.0, "lead": 0.0, "turn": 1.0, "steady": 4.0, "wall": 8.0})
    told = under_load.report(runs, command_s=10.0)
    assert "under load: 75.0% of the time of 2 runs, the goal is 85%" in told
    assert told[-1] == "under load: 60.0% of the 10.0 s that the command took"
    assert [line.split() for line in told if line.startswith("no load")] == [["no", "load", "2.0", "1.00", "25.0"]]
