"""A doubt that holds of a machine, whatever is measured on it, is said once in a report, and by no ranking."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.analyse.fakes import FINGERPRINT, RIG, plan, run
from webdyno.commands import call
from webdyno.store import Store

SHARED = msgspec.structs.replace(RIG, driver_cores=RIG.contender_cores)


@pytest.mark.parametrize("form", ["terminal", "md"])
def test_cores_that_are_shared_are_said_once_for_all_rankings(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [
        run(name, rate=rate, workload=workload, round_=round_, rig=SHARED)
        for round_ in (1, 2, 3)
        for workload in ("hello", "json")
        for name, rate in (("a", 900.0), ("b", 100.0))
    ]
    with Store.create(tmp_path / "r", plan(runs), FINGERPRINT) as store:
        for each in runs:
            store.append(each)
    assert call(["report", str(tmp_path / "r"), "--format", form]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert told.count("the load generator ran on a core of the contenders") == 1
    assert "Doubts about the whole table" not in told
