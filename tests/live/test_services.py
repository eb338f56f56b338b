"""Services from end to end: a real Redis, one that dies, one that is missing, and the MongoDB that webdyno builds."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import uv

from tests.live.conftest import CATALOGUE, Call
from tests.live.test_run import assert_nothing_left, only_folder, query, start, wait_for_runs

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

redis = pytest.mark.skipif(not shutil.which("redis-server"), reason="redis-server is not installed")
maven = pytest.mark.skipif(
    not (shutil.which("mvn") and shutil.which("javac")), reason="mvn or a JDK is not installed: no mongo-java-server"
)


@redis
def test_a_study_waits_on_a_redis_that_is_started_once_and_measured(webdyno: Call, tmp_path: Path, cache: Path) -> None:
    done = webdyno("run", "redis")
    assert done.returncode == 0, done.stderr
    folder = only_folder(tmp_path)
    assert query(folder, "SELECT DISTINCT outcome, service LIKE 'redis-server %' FROM run") == [("ok", 1)]
    bodies = [json.loads(body) for (body,) in query(folder, "SELECT body FROM run")]
    assert len({tuple(body["service"]["command"]) for body in bodies}) == 1
    assert {body["environment"]["WEBDYNO_POOL"] for body in bodies} == {"64"}
    looks = query(
        folder, "SELECT run, max(cpu_user_ns + cpu_system_ns) FROM reading WHERE role = 'service' GROUP BY run"
    )
    assert len(looks) == 4
    assert all(cpu > 0 for _, cpu in looks)
    assert "Service redis" in (folder / "report.html").read_text()
    assert "redis-server" in done.stdout
    assert_nothing_left(cache)


@redis
def test_a_redis_that_dies_costs_one_run_and_is_started_again(webdyno: Call, tmp_path: Path, cache: Path) -> None:
    done = webdyno("run", "redis", "-k", "toy-redis,toy-redis-murder", "-w", "counter")
    assert done.returncode == 1, done.stderr
    folder = only_folder(tmp_path)
    found = query(folder, "SELECT contender, outcome, message FROM run ORDER BY contender, round")
    assert [(name, outcome) for name, outcome, _ in found] == [
        ("toy-redis", "ok"), ("toy-redis", "ok"),
        ("toy-redis-murder", "service-failed"), ("toy-redis-murder", "service-failed"),
    ]  # fmt: skip
    assert found[-1][2].startswith("redis-server, the service redis (")
    assert_nothing_left(cache)


@redis
def test_a_killed_webdyno_leaves_no_redis(
    webdyno: Call, environment: dict[str, str], tmp_path: Path, cache: Path
) -> None:
    process = start(environment, tmp_path, "run", "redis", "--rounds", "30")
    wait_for_runs(tmp_path / "results", 1)
    process.kill()
    process.communicate(timeout=10)
    done = webdyno("check", "toy-redis", "-w", "static")
    assert done.returncode == 0, done.stderr
    assert "redis-server" in done.stdout
    assert_nothing_left(cache)


def without_services(environment: dict[str, str], folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Call webdyno where there is nothing on PATH but a Python."""
    programs = folder / "programs"
    programs.mkdir()
    find = [uv.find_uv_bin(), "python", "find", "--no-project", "--no-python-downloads", "--system", "3.11"]
    found = subprocess.run(find, capture_output=True, text=True, check=False)
    python = found.stdout.strip() or pytest.skip("there is no CPython 3.11 here")
    (programs / "python3.11").symlink_to(Path(python).resolve())
    return subprocess.run(
        [sys.executable, "-m", "webdyno", *arguments],
        env={**environment, "PATH": str(programs)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("command", ["plan", "check", "doctor"])
def test_a_missing_service_is_said_in_one_line(command: str, environment: dict[str, str], tmp_path: Path) -> None:
    more = ["--catalogue", str(CATALOGUE)]
    arguments = {"plan": ["toys", "-k", "toy-good,toy-redis", "-w", "hello,counter,static", *more], "doctor": []}
    done = without_services(environment, tmp_path, command, *arguments.get(command, ["toy-redis", *more]))
    assert done.returncode == 0, done.stderr
    said = [line for line in (done.stdout + done.stderr).splitlines() if "Redis was not found" in line]
    assert len(said) == 1
    assert "to get it: apt install redis-server" in said[0]
    if command != "doctor":
        assert "counter" in said[0]
        assert "static" in said[0]


def test_a_study_of_which_nothing_is_left_says_why(environment: dict[str, str], tmp_path: Path) -> None:
    done = without_services(environment, tmp_path, "run", "redis", "--catalogue", str(CATALOGUE))
    assert done.returncode == 2
    assert "nothing left to measure (counter and static: Redis was not found" in done.stderr


@maven
def test_a_contender_waits_on_the_mongodb_that_webdyno_builds(webdyno: Call, tmp_path: Path, cache: Path) -> None:
    if shutil.which("mongod") or os.environ.get("MONGODB_URL"):
        pytest.skip("there is a real MongoDB here, and it goes first")
    asked = ["-w", "mongo-big,mongo-small-10ms"]
    done = webdyno("run", "redis", "-k", "tornado-db", *asked, "--rounds", "1", timeout=280)
    assert done.returncode == 0, done.stderr
    folder = only_folder(tmp_path)
    assert query(folder, "SELECT DISTINCT outcome, service FROM run") == [("ok", "mongo-java-server 1.47.0")]
    bodies = [json.loads(body) for (body,) in query(folder, "SELECT body FROM run")]
    later = {body["trial"]["workload"]: (body["service"], body["probe"]) for body in bodies}
    assert later["mongo-small-10ms"][0]["delay_ms"] == 10
    assert later["mongo-small-10ms"][1]["first_answer_ns"] >= 10_000_000
    assert later["mongo-big"][0].get("delay_ms", 0) == 0
    assert "its answers delayed by 10 ms" in " ".join(done.stdout.split())
    assert "not a mongod but mongo-java-server 1.47.0" in " ".join(done.stdout.split())
    assert_nothing_left(cache)
