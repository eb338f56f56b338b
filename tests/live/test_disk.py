"""Faults of the disk, through the command line: floods, full disks, folders that vanish. More are in tests/torture."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.disks import resize, small_disk
from tests.live.conftest import Call
from tests.live.test_run import assert_nothing_left, only_folder, outcomes, query, start
from webdyno import now
from webdyno.model.run import Run
from webdyno.store import Store

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


def test_a_disk_that_fills_up_keeps_its_runs_and_the_study_goes_on_once_there_is_room(
    webdyno: Call, environment: dict[str, str], tmp_path: Path, cache: Path
) -> None:
    with small_disk(tmp_path / "results", 200_000) as disk:
        done = webdyno("run", "toys", "--rounds", "5")
        assert_one_sentence(done, f"the disk at {disk} (")
        assert " is full; " in done.stderr
        folder = only_folder(tmp_path)
        assert "--resume" in done.stderr
        kept = runs_in(folder)
        assert 0 < len(kept) < 5
        read = [sys.executable, "-m", "webdyno", "report", str(folder), "--format", "json"]
        assert subprocess.run(read, env=environment, capture_output=True, check=False).returncode == 0, "on a full disk"
        resize(disk, 50 * MB)
        assert webdyno("run", "--resume", str(folder)).returncode == 0
        assert runs_in(folder)[: len(kept)] == kept
        assert len(runs_in(folder)) == 5
        assert_nothing_left(cache)


@pytest.mark.parametrize("alone", [True, False])
def test_a_results_folder_that_is_removed_ends_the_run_in_flight(
    webdyno: Call, environment: dict[str, str], tmp_path: Path, cache: Path, alone: bool
) -> None:
    assert webdyno("check", "toy-good", "odd-none").returncode == 0  # built
    names = "toy-good" if alone else "toy-good,odd-none"
    process = start(environment, tmp_path, "run", "toys", "-k", names, "-d", "40s", "--rounds", "1", "--exhaustive")
    try:
        folder = wait_for_load(tmp_path / "results")
        shutil.rmtree(folder)
        began = time.monotonic()
        _, said = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
    assert time.monotonic() - began < 15, "of 40 s"
    done = subprocess.CompletedProcess([], process.returncode, "", said)
    assert_one_sentence(
        done, f"{folder.relative_to(tmp_path)} was removed, moved or replaced while webdyno wrote to it"
    )
    assert_nothing_left(cache)


def assert_one_sentence(done: subprocess.CompletedProcess[str], sentence: str) -> None:
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    [complaint] = [line for line in done.stderr.splitlines() if line.startswith("webdyno: ")]
    assert sentence in complaint


def runs_in(folder: Path) -> list[Run]:
    with Store.open(folder) as store:
        return store.runs()


def wait_for_load(results: Path) -> Path:
    """The results folder, once what is in flight is loaded."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for folder in results.glob("*"):
            if (at := now.read(folder)) is not None and at.phase is not None:
                return folder
        time.sleep(0.05)
    raise AssertionError("nothing was loaded")
