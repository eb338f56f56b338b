"""Processes that are killed, stopped or never end: of webdyno itself, and of all that it starts."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.live import left_behind
from tests.live.conftest import Call
from tests.live.provoking import await_pids, ended, hit
from tests.live.test_run import assert_nothing_left, only_folder, query, start

pytestmark = [pytest.mark.live, pytest.mark.torture, pytest.mark.timeout(900)]

KILLS, PAGES = 50, 15
"""So many of the kills hit a webdyno that has nothing left to do but to write the page."""
ROUNDS = 40
Environment = dict[str, str]
killed_or_stopped = pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])


def nothing_left(cache: Path) -> None:
    assert_nothing_left(cache)
    assert left_behind.folders(cache) == []


def told(folder: Path) -> list[tuple[str, str]]:
    return query(folder, "SELECT outcome, json_extract(body, '$.message') FROM run ORDER BY number")


class Kept:
    """What a results folder has held so far; each look sees to it that it still does."""

    def __init__(self) -> None:
        self.rows: list[Any] = []

    def look(self, folder: Path) -> None:
        rows = query(folder, "SELECT number, trial, outcome, body FROM run ORDER BY number")
        assert rows[: len(self.rows)] == self.rows, "a Run that was recorded is lost or was changed"
        done = [trial for _, trial, outcome, _ in rows if outcome != "interrupted"]
        assert len(done) == len(set(done)), "a Trial is recorded twice"
        assert query(folder, "PRAGMA integrity_check") == [("ok",)]
        assert [json.loads(body)["trial"]["id"] for *_, body in rows] == [trial for _, trial, _, _ in rows]
        page = folder / "report.html"
        if page.exists():
            text = page.read_text("utf-8")
            assert text.startswith("<!doctype html>"), "the page is torn"
            assert text.rstrip().endswith("</html>"), "the page is torn"
        self.rows = rows


def with_a_plan(tmp_path: Path) -> list[Path]:
    """Results folders with a plan. One that was killed while it was made has none, and the next start makes another."""
    made = []
    for folder in (tmp_path / "results").glob("*"):
        try:
            tables = query(folder, "SELECT count(*) FROM sqlite_master WHERE name = 'run'")
        except sqlite3.OperationalError:  # there is no file yet
            tables = []
        if tables == [(1,)]:
            made.append(folder)
        else:
            shutil.rmtree(folder)
    return made


def killed(environment: Environment, cwd: Path, after_s: float, *arguments: str) -> bool:
    """Whether webdyno was still at work when it was killed."""
    process = start(environment, cwd, *arguments)
    try:
        process.communicate(timeout=after_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate(timeout=20)
    return process.returncode == -signal.SIGKILL


def test_fifty_kills(webdyno: Call, environment: Environment, tmp_path: Path, cache: Path) -> None:
    """webdyno is killed (SIGKILL) at 50 random moments, 15 of them while the page is written: nothing recorded is lost, torn or doubled, the page is whole or absent, and the next start leaves nothing behind"""  # noqa: E501
    chance, kept, hits = random.Random(16), Kept(), 0
    plan = ("run", "toys", "-k", "toy-good,odd-none", "--rounds", str(ROUNDS), "--exhaustive")
    while hits < KILLS - PAGES:
        before = with_a_plan(tmp_path)
        more = ("run", "--resume", str(before[0])) if before else plan
        hits += killed(environment, tmp_path, chance.uniform(0.1, 6.0), *more)
        for folder in with_a_plan(tmp_path):
            kept.look(folder)
    folder = only_folder(tmp_path)
    done = webdyno("run", "--resume", str(folder), timeout=400)
    assert done.returncode == 0, done.stderr
    kept.look(folder)
    assert len(kept.rows) == 2 * ROUNDS
    nothing_left(cache)
    begun = time.monotonic()
    assert not killed(environment, tmp_path, 120.0, "run", "--resume", str(folder))
    whole_s = time.monotonic() - begun
    while hits < KILLS:
        hits += killed(environment, tmp_path, chance.uniform(whole_s / 3, whole_s), "run", "--resume", str(folder))
        kept.look(folder)
    assert webdyno("run", "--resume", str(folder)).returncode == 0
    kept.look(folder)
    assert not [path.name for path in folder.iterdir() if path.name.endswith(".new")]
    nothing_left(cache)


@pytest.mark.parametrize("contenders", ["toy-good", "toy-good,odd-none"], ids=["alone", "in turns"])
@killed_or_stopped
def test_the_engine(
    number: signal.Signals, contenders: str, environment: Environment, tmp_path: Path, cache: Path
) -> None:
    """The engine is killed or stopped (SIGSTOP) under load: its Run says so and is no failure of the contender, and the plan goes on"""  # noqa: E501
    process = start(environment, tmp_path, "run", "toys", "-k", contenders, "--rounds", "2", "-d", "2s", "--exhaustive")
    hit("driver", number, cache)
    said = ended(process, 200)
    rows = told(only_folder(tmp_path))
    assert process.returncode == 1, said
    assert sorted(outcome for outcome, _ in rows) == ["driver-failed"] + ["ok"] * (len(rows) - 1)
    (message,) = (message for outcome, message in rows if outcome != "ok")
    assert ("SIGKILL" if number == signal.SIGKILL else "and was stopped") in message
    nothing_left(cache)


@killed_or_stopped
def test_the_contenders_master(number: signal.Signals, environment: Environment, tmp_path: Path, cache: Path) -> None:
    """The only process of a contender is killed or stopped (SIGSTOP) under load: its Run is a failure that says how, and the plan goes on"""  # noqa: E501
    process = start(environment, tmp_path, "run", "toys", "--rounds", "3", "-d", "2s", "--exhaustive")
    hit("contender", number, cache)
    said = ended(process, 200)
    assert process.returncode == 1, said
    outcomes = [outcome for outcome, _ in told(only_folder(tmp_path))]
    failed = {signal.SIGKILL: ["died"], signal.SIGSTOP: ["wrong-answer"]}[number]
    assert outcomes == [*failed, "ok", "ok"]
    nothing_left(cache)


@pytest.mark.skipif(not shutil.which("redis-server"), reason="redis-server is not installed")
@killed_or_stopped
def test_redis(number: signal.Signals, environment: Environment, tmp_path: Path, cache: Path) -> None:
    """The Redis behind a contender is killed or hangs (SIGSTOP) under load: that Run is lost to the service and not to the contender, and the next one gets a new Redis"""  # noqa: E501
    process = start(environment, tmp_path, "run", "redis", "-w", "counter", "--rounds", "3", "-d", "2s", "--exhaustive")
    hit("service", number, cache)
    said = ended(process, 200)
    rows = told(only_folder(tmp_path))
    assert [outcome for outcome, _ in rows] == ["service-failed", "ok", "ok"], said
    assert {signal.SIGKILL: " ended with SIGKILL", signal.SIGSTOP: " does not answer: "}[number] in rows[0][1]
    nothing_left(cache)


@pytest.mark.skipif(not (shutil.which("mvn") and shutil.which("javac")), reason="mvn or a JDK is not installed")
@killed_or_stopped
def test_mongodb(number: signal.Signals, environment: Environment, tmp_path: Path, cache: Path) -> None:
    """The MongoDB behind a contender is killed or hangs (SIGSTOP) under load: that Run is lost to the service and not to the contender, and the next one gets a new MongoDB"""  # noqa: E501
    asked = ("-k", "tornado-db", "-w", "mongo-big", "--rounds", "2", "-d", "2s", "--exhaustive")
    process = start(environment, tmp_path, "run", "redis", *asked)
    await_pids("driver", cache, within_s=400)
    hit("service", number, cache)
    said = ended(process, 200)
    rows = told(only_folder(tmp_path))
    assert [outcome for outcome, _ in rows] == ["service-failed", "ok"], said
    assert {signal.SIGKILL: " ended with SIGKILL", signal.SIGSTOP: " does not answer: "}[number] in rows[0][1]
    nothing_left(cache)


def test_a_crowd_of_signals(webdyno: Call, environment: Environment, tmp_path: Path, cache: Path) -> None:
    """webdyno is sent SIGHUP, SIGTERM and SIGINT at ten random moments: it ends each time by itself with what was recorded, and leaves nothing behind"""  # noqa: E501
    chance, kept = random.Random(17), Kept()
    assert webdyno("run", "toys", "-k", "toy-good,odd-none", "--rounds", "2").returncode == 0  # builds, and is over
    shutil.rmtree(tmp_path / "results")
    plan = ("run", "toys", "-k", "toy-good,odd-none", "--rounds", "60", "--exhaustive")
    for _ in range(10):
        before = list((tmp_path / "results").glob("*/results.sqlite"))
        process = start(environment, tmp_path, *(("run", "--resume", str(before[0].parent)) if before else plan))
        await_pids("driver", cache)
        time.sleep(chance.uniform(0.0, 3.0))
        process.send_signal(chance.choice([signal.SIGHUP, signal.SIGTERM, signal.SIGINT]))
        said = ended(process, 60)
        assert process.returncode == 130, said
        kept.look(only_folder(tmp_path))
        nothing_left(cache)


def test_versions_that_never_come(environment: Environment, tmp_path: Path, cache: Path) -> None:
    """A load tool hangs when it is asked for its version, another one prints without end: doctor says so of both and comes to its end"""  # noqa: E501
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, script in (("wrk", "sleep 600"), ("ab", "while :; do echo more; done")):
        (programs / name).write_text(f"#!/bin/sh\ntrap '' TERM\n{script}\n")
        (programs / name).chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-m", "webdyno", "doctor"],
        env={**environment, "PATH": f"{programs}:{os.environ['PATH']}", "COLUMNS": "300"},
        cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"{programs}/wrk -v did not end within 20 s and was ended" in done.stdout
    assert f"{programs}/ab -V printed more than 64 KiB and was ended" in done.stdout
    nothing_left(cache)
