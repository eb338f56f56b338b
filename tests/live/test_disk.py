"""Faults of the disk, through the command line: floods, full disks, folders that vanish. More are in tests/torture."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.disks import small_disk
from tests.live.conftest import Call
from tests.live.test_run import assert_nothing_left, only_folder, outcomes, query

pytestmark = [pytest.mark.live, pytest.mark.timeout(180)]
MB = 10**6


def test_a_flood_of_a_log_is_stopped_on_a_small_disk_and_its_neighbours_keep_their_runs(
    webdyno: Call, tmp_path: Path, cache: Path
) -> None:
    with small_disk(tmp_path / "results", 600 * MB):
        done = webdyno("run", "floods")
        assert done.returncode == 1, done.stderr
        folder = only_folder(tmp_path)
        assert outcomes(folder) == {"toy-good": "ok", "toy-flood": "flooded", "odd-none": "ok"}
        [(message, tail)] = query(
            folder,
            "SELECT message, json_extract(body, '$.log_tail') FROM run WHERE outcome = 'flooded'",
        )
        assert "into its log, where " in message
        assert ", half of what the disk had left, are the most, and was stopped: let it log less" in message
        assert tail.startswith(("toy: xxx", "xxx"))
        assert "wrote more into its log than it may" in done.stdout
        assert sum(file.stat().st_size for file in folder.rglob("*.log")) < 5 * MB
        assert_nothing_left(cache)
