"""Faults that take seconds to provoke; the others of their kind are in tests/torture."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.live.provoking import await_pids, ended, hit
from tests.live.test_run import assert_nothing_left, only_folder, query, start, wait_for_runs
from tests.rig.strapping import wait_for
from webdyno.rig.process import children, command_of

pytestmark = [pytest.mark.live, pytest.mark.timeout(180)]

SLEEPING = """
import os, time
told = time.clock_gettime_ns
time.clock_gettime_ns = lambda clock: told(clock) + os.path.exists({flag!r}) * 7_200_000_000_000
"""
"""What each Python imports first: its machine has slept for two hours once there is that file."""


def test_a_worker_that_is_killed_under_load_is_told_with_its_servers_own_line(
    environment: dict[str, str], tmp_path: Path, cache: Path
) -> None:
    process = start(environment, tmp_path, "run", "toys", "-k", "odd-loses", "--rounds", "1", "-d", "5s")
    await_pids("driver", cache)
    time.sleep(1.5)  # its first worker has been replaced, which was seen
    _, worker, _ = await_pids("contender", cache, 3)  # who was there from the start
    os.kill(worker, signal.SIGKILL)
    said = ended(process, 60)
    ((outcome, body),) = query(only_folder(tmp_path), "SELECT outcome, body FROM run")
    assert outcome == "ok", said
    losses = {loss["pid"]: loss for loss in json.loads(body)["losses"]}
    assert losses[worker]["replaced"]
    assert losses[worker]["line"] == f"worker {worker} died, and is replaced"
    assert_nothing_left(cache)


@pytest.mark.skipif(not shutil.which("redis-server"), reason="redis-server is not installed")
def test_a_redis_that_hangs_costs_one_run_and_no_contender_its_name(
    environment: dict[str, str], tmp_path: Path, cache: Path
) -> None:
    process = start(environment, tmp_path, "run", "redis", "-w", "counter")
    hit("service", signal.SIGSTOP, cache)
    said = ended(process, 100)
    rows = query(only_folder(tmp_path), "SELECT outcome, json_extract(body, '$.message') FROM run ORDER BY number")
    assert [outcome for outcome, _ in rows] == ["service-failed", "ok"], said
    assert " does not answer: " in rows[0][1]
    assert_nothing_left(cache)


def test_a_machine_that_sleeps_under_load_costs_that_run_which_is_measured_again(
    environment: dict[str, str], tmp_path: Path, cache: Path
) -> None:
    flag = tmp_path / "slept"
    (tmp_path / "sitecustomize.py").write_text(SLEEPING.format(flag=str(flag)))
    path = os.pathsep.join(filter(None, [str(tmp_path), environment.get("PYTHONPATH")]))
    process = start({**environment, "PYTHONPATH": path}, tmp_path, "run", "toys", "--rounds", "2", "--exhaustive")
    wait_for_runs(tmp_path / "results", 1)
    await_pids("driver", cache)
    flag.touch()
    said = ended(process, 60)
    assert process.returncode == 0, said
    assert "note: the machine slept for 2 h 0 min while it was measured, so once more: toy-good" in said
    folder = only_folder(tmp_path)
    assert query(folder, "SELECT outcome FROM run ORDER BY number") == [("ok",), ("interrupted",), ("ok",)]
    assert_nothing_left(cache)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_sigterm_and_a_closed_terminal_end_a_run_as_ctrl_c_does(
    number: signal.Signals, environment: dict[str, str], tmp_path: Path, cache: Path
) -> None:
    process = start(environment, tmp_path, "run", "toys", "--rounds", "20", "--exhaustive")
    folder = wait_for_runs(tmp_path / "results", 1)
    process.send_signal(number)
    said = ended(process, 30)
    assert process.returncode == 130, said
    assert f"webdyno run --resume results/{folder.name}" in said
    assert {outcome for (outcome,) in query(folder, "SELECT outcome FROM run")} <= {"ok", "interrupted"}
    assert_nothing_left(cache)


def test_a_load_by_hand_under_which_the_machine_sleeps_says_so(environment: dict[str, str], tmp_path: Path) -> None:
    flag = tmp_path / "slept"
    (tmp_path / "sitecustomize.py").write_text(SLEEPING.format(flag=str(flag)))
    path = os.pathsep.join(filter(None, [str(tmp_path), environment.get("PYTHONPATH")]))
    serving = "import http.server as h; s = h.ThreadingHTTPServer(('127.0.0.1', 0), h.SimpleHTTPRequestHandler); print(s.server_port, flush=True); s.serve_forever()"  # noqa: E501
    with subprocess.Popen(
        [sys.executable, "-c", serving], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/"
        with subprocess.Popen(
            [sys.executable, "-m", "webdyno", "load", url, "-c", "1", "-d", "2s"],
            cwd=tmp_path, env={**environment, "PYTHONPATH": path}, stdout=subprocess.PIPE, text=True,
        ) as load:  # fmt: skip
            wait_for(lambda: any("webdyno-engine" in " ".join(command_of(pid)) for pid in children(load.pid)))
            flag.touch()
            said, _ = load.communicate(timeout=60)
        server.kill()
    assert "slept: this machine was suspended for 2 h 0 min under the load" in said
