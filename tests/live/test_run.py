"""The pipeline from end to end: runs, failures, Ctrl-C, kill -9 and resume."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.live import left_behind
from tests.live.conftest import CATALOGUE, Call
from webdyno.store import Store

pytestmark = [pytest.mark.live, pytest.mark.timeout(180)]


def only_folder(tmp_path: Path) -> Path:
    (folder,) = (tmp_path / "results").iterdir()
    return folder


def outcomes(folder: Path) -> dict[str, str]:
    return dict(query(folder, "SELECT contender, outcome FROM run"))


def limits_memory(folder: Path) -> bool:
    """Whether cgroups can be written here; as an ordinary user they often cannot, and then a Doubt must say so."""
    (body,) = query(folder, "SELECT body FROM run LIMIT 1")[0]
    return bool(json.loads(body)["rig"]["cgroup"] != "none")


def query(folder: Path, sql: str) -> list[Any]:
    """Rows of a store that another process may be writing at this moment."""
    with closing(sqlite3.connect(f"file:{folder / 'results.sqlite'}?mode=ro", uri=True)) as connection:
        return connection.execute(sql).fetchall()


def wait_for_runs(results: Path, count: int, deadline_s: float = 60) -> Path:
    """The results folder, once it holds ``count`` runs, read while it is being written."""
    deadline = time.monotonic() + deadline_s
    while time.monotonic() < deadline:
        for file in results.glob("*/results.sqlite"):
            try:
                if query(file.parent, "SELECT count(*) FROM run")[0][0] >= count:
                    return file.parent
            except sqlite3.OperationalError:
                pass  # not made yet
        time.sleep(0.05)
    raise AssertionError(f"no {count} runs within {deadline_s} s")


def assert_nothing_left(cache: Path) -> None:
    assert left_behind.processes() == []
    assert left_behind.cgroups() == []
    assert left_behind.ledgers(cache) == []


def test_a_study_runs_from_plan_to_report(webdyno: Call, tmp_path: Path, cache: Path) -> None:
    done = webdyno("run", "toys")
    assert done.returncode == 0, done.stderr
    assert "3 trials" in done.stderr
    folder = only_folder(tmp_path)
    assert "toy-good" in done.stdout
    assert str(folder.name) in done.stdout
    assert (folder / "report.html").read_text().startswith("<!doctype html>")
    assert_nothing_left(cache)


def test_every_failure_is_a_run_with_its_outcome_and_the_plan_goes_on(
    webdyno: Call, tmp_path: Path, cache: Path
) -> None:
    done = webdyno("run", "failures")
    assert done.returncode == 1, done.stderr
    folder = only_folder(tmp_path)
    assert outcomes(folder) == {
        "toy-good": "ok",
        "toy-no-install": "build-failed",
        "toy-exit": "exited-at-start",
        "toy-silent": "never-ready",
        "toy-wrong": "wrong-answer",
        "toy-die": "died",
        "toy-leak": "out-of-memory" if limits_memory(folder) else "ok",
        "toy-stubborn": "ok",
    }
    assert ("memory-limit-not-enforced" in done.stdout) is not limits_memory(folder)
    for last_word in ("webdyno-no-such-package", "toy: cannot find its configuration", "toy: out of answers"):
        assert last_word in done.stdout
        assert last_word in (folder / "report.html").read_text()
    assert_nothing_left(cache)


def test_who_gets_away_has_escaped_a_bomb_of_processes_fails_and_the_plan_goes_on(
    webdyno: Call, tmp_path: Path, cache: Path
) -> None:
    done = webdyno("run", "slyness")
    folder = only_folder(tmp_path)
    found = outcomes(folder)
    if os.getuid() != 0 or not limits_memory(folder):
        pytest.skip("only root may leave a cgroup")
    assert done.returncode == 1, done.stderr
    assert found.pop("sly-bomb") in ("out-of-memory", "too-many-processes", "died")
    assert found == {"toy-good": "ok", "sly-leaves": "escaped", "sly-stows": "escaped"}
    messages = dict(query(folder, "SELECT contender, json_extract(body, '$.message') FROM run"))
    assert "left its cgroup and was found in /sys/fs/cgroup" in messages["sly-leaves"]
    assert "(sleep) has no session, mark or parent left" in messages["sly-stows"]
    assert "left the cgroup, the cores or the limits it was given" in done.stdout
    assert_nothing_left(cache)


def test_a_server_that_makes_itself_a_daemon_is_loaded_to_the_end(webdyno: Call, tmp_path: Path, cache: Path) -> None:
    done = webdyno("run", "toys", "-k", "toy-daemon", "--rounds", "2")
    assert done.returncode == 0, done.stderr
    assert query(only_folder(tmp_path), "SELECT outcome FROM run") == [("ok",), ("ok",)]
    assert_nothing_left(cache)


def test_a_study_of_rates_is_raced_and_goes_on_as_one_when_it_was_killed(
    webdyno: Call, environment: dict[str, str], tmp_path: Path, cache: Path
) -> None:
    # 1 s: of half a second a crowded machine may leave a server of one process in four nothing
    racing = ("-k", "toy-good,odd-none,odd-one-works", "--rounds", "5", "-d", "1s")
    process = start(environment, tmp_path, "run", "toys", *racing)
    folder = wait_for_runs(tmp_path / "results", 2)
    process.kill()
    _, said = process.communicate(timeout=10)
    assert "a race of 9 to 15 trials, at most " in said
    assert "without a race (--exhaustive): " in said
    done = webdyno("run", "--resume", str(folder))
    assert done.returncode == 0, done.stderr
    assert " of 3 pairs is decided." in " ".join(done.stdout.split())
    assert f"Report: {folder}/report.html; in a browser: webdyno view {folder.parent}" in done.stdout
    trials = query(folder, "SELECT DISTINCT trial FROM run WHERE outcome = 'ok'")
    assert 9 <= len(trials) <= 15
    assert "A race: " in done.stdout
    assert_nothing_left(cache)


def test_in_place_each_server_is_started_once_and_a_killed_run_goes_on(
    webdyno: Call, environment: dict[str, str], tmp_path: Path, cache: Path
) -> None:
    process = start(environment, tmp_path, "run", "toys", "-k", "toy-good,odd-none", "--rounds", "4", "--in-place")
    folder = wait_for_runs(tmp_path / "results", 2)
    process.kill()
    process.communicate(timeout=10)
    done = webdyno("run", "--resume", str(folder))
    assert done.returncode == 0, done.stderr
    assert "each server was started once and measured 4 times in place" in done.stdout
    with Store.open(folder) as store:
        runs = [run for run in store.runs() if run.outcome == "ok"]
    assert [run.trial.round for run in runs] == [1, 2, 3, 4] * 2
    starts = [run.reused for run in runs].count(False)
    assert 2 <= starts <= 3  # one each, and one more after the kill
    pids = [{pid for each in run.readings for pid in each.cpu_by_process or {}} for run in runs if not run.reused]
    assert all(pids)
    assert_nothing_left(cache)


def test_ctrl_c_records_the_trial_in_flight_and_keeps_the_rest(
    environment: dict[str, str], tmp_path: Path, cache: Path
) -> None:
    process = start(environment, tmp_path, "run", "toys", "--rounds", "20")
    folder = wait_for_runs(tmp_path / "results", 2)
    process.send_signal(signal.SIGINT)
    _, complaints = process.communicate(timeout=30)
    assert process.returncode == 130, complaints
    assert f"webdyno run --resume results/{folder.name}" in complaints
    recorded = [row[0] for row in query(folder, "SELECT outcome FROM run ORDER BY number")]
    assert recorded.count("ok") >= 2
    assert set(recorded) <= {"ok", "interrupted"}
    assert_nothing_left(cache)


def test_kill_minus_nine_loses_at_most_the_trial_in_flight_and_resume_cleans_up(
    webdyno: Call, environment: dict[str, str], tmp_path: Path, cache: Path
) -> None:
    process = start(environment, tmp_path, "run", "toys", "--contender", "toy-good", "--rounds", "6")
    folder = wait_for_runs(tmp_path / "results", 2)
    process.kill()
    process.communicate(timeout=10)
    before = query(folder, "SELECT number, trial FROM run ORDER BY number")
    assert len(before) >= 2
    done = webdyno("run", "--resume", str(folder))
    assert done.returncode == 0, done.stderr
    after = query(folder, "SELECT number, trial FROM run ORDER BY number")
    assert after[: len(before)] == before
    assert len(after) == len({trial for _, trial in after}) == 6
    assert_nothing_left(cache)


def test_a_new_contender_is_one_new_file(webdyno: Call, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    (folder / "contenders").mkdir(parents=True)
    (folder / "contenders" / "mine.toml").write_text(
        'app     = "toy"\n'
        'runtime = "cpython-3.11"\n'
        'server  = "toy"\n'
        'model   = "event loop"\n'
        'serve   = ["python", "toy.py", "{port}", "good"]\n'
        'because = "a test"\n'
        'author  = "a newcomer"\n'
    )
    study = tmp_path / "study.toml"
    study.write_text(
        'title = "Mine"\nquestion = "How fast is mine?"\ncontenders = ["mine", "toy-good"]\nworkloads = ["hello"]\n'
        "rounds = 2\n[[loads]]\nconnections = [2]\nduration_s = 0.3\nwarmup_s = 0.1\n"
    )
    done = webdyno("run", str(study), "--catalogue", str(folder))
    assert done.returncode == 0, done.stderr
    assert "mine" in done.stdout


def test_results_are_data_with_json(webdyno: Call) -> None:
    done = webdyno("run", "toys", "--rounds", "2", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)


@pytest.mark.parametrize("driver", ["wrk", "ab", "h2load", "oha", "jmeter"])
def test_other_drivers_load_through_the_same_seam(driver: str, webdyno: Call, tmp_path: Path) -> None:
    done = webdyno("run", "toys", "--rounds", "2", "--driver", driver, "--duration", "1s")
    if done.returncode == 3 and "not installed" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    assert outcomes(only_folder(tmp_path)) == {"toy-good": "ok"}


def start(environment: dict[str, str], cwd: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "webdyno", *arguments, "--catalogue", str(CATALOGUE)],
        cwd=cwd,
        env={**environment, "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_two_at_once_are_refused_with_who_holds_the_rig(
    webdyno: Call, environment: dict[str, str], tmp_path: Path
) -> None:
    process = start(environment, tmp_path, "run", "toys", "--rounds", "20")
    try:
        wait_for_runs(tmp_path / "results", 1)
        done = webdyno("run", "toys")
        assert done.returncode == 3
        assert str(process.pid) in done.stderr
    finally:
        os.kill(process.pid, signal.SIGINT)
        process.communicate(timeout=30)
