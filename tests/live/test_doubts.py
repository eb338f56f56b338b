"""Doubts are raised by real servers with real habits, from the start of a server to the sentence in a report.

Each server has one odd habit that does not depend on how fast this machine is. Doubts that hang on timing are provoked
with Runs made up for it alone, in tests/analyse: a busy or late load generator, workers and threads that are all taken,
contenders that are all alike, a machine that drifts.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.live.conftest import CATALOGUE, Call
from tests.live.test_run import limits_memory, only_folder, query, start, wait_for_runs
from webdyno.analyse.doubts.physics import PLATEAU_NS
from webdyno.model.doubt import Doubt
from webdyno.model.verdict import Analysis, Standing
from webdyno.store import Store

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

CPU = Path("/sys/fs/cgroup/cpu")
redis = pytest.mark.skipif(not shutil.which("redis-server"), reason="redis-server is not installed")


def analysis(done: subprocess.CompletedProcess[str]) -> Analysis:
    assert done.returncode in (0, 1), done.stderr
    return msgspec.convert(json.loads(done.stdout)["analysis"], Analysis)


def standings(of: Analysis) -> dict[str, Standing]:
    [verdict] = of.verdicts
    return {standing.contender: standing for standing in verdict.standings}


def reported(folder: Path, environment: dict[str, str]) -> Analysis:
    """What ``webdyno report`` makes of a results folder."""
    command = [sys.executable, "-m", "webdyno", "report", str(folder), "--json"]
    return analysis(subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=False))


def kinds(doubts: list[Doubt]) -> dict[str, Doubt]:
    return {doubt.kind: doubt for doubt in doubts}


@pytest.fixture(scope="module")
def odd(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> tuple[Analysis, Path]:
    """Every odd server under load once, and the folder of its results."""
    folder = tmp_path_factory.mktemp("odd")
    done = subprocess.run(
        [sys.executable, "-m", "webdyno", "run", "odd", "--json", "--catalogue", str(CATALOGUE)],
        cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=250, check=False,
    )  # fmt: skip
    return analysis(done), only_folder(folder)


HABITS = {
    "odd-closes": ("closes-connections", "shades", "without announcing it"),
    "odd-rarely": ("silent-close", "shades", "unannounced"),
    "odd-says-close": ("closes-connections", "shades", "and says so in its answer"),
    "odd-http10": ("http-1.0", "shades", "HTTP/1.0"),
    "odd-starves": ("starved-connections", "voids", "6 of 8 connections without a single answer"),
    "odd-hangs": ("hanging-requests", "shades", "the rest hung"),
    "odd-errs": ("wrong-answers", "voids", "wrong-body"),
    "odd-one-works": ("uneven-accept", "shades", "one of 4 workers"),
    "odd-loses": ("workers-lost", "shades", "replaced, and it continued to serve; it wrote: worker"),
    "odd-queue": ("small-backlog", "shades", "4 places for 8 connections, though it asks for 1,024"),
    "odd-gil": ("gil-on", "shades", "loading toy_speedups switched it on again"),
    "toy-die": ("dead-cell", "voids", "ended while under load in 1 of 1 round"),
}


@pytest.mark.measures
@pytest.mark.parametrize("contender", HABITS)
def test_a_habit_is_told_by_name(contender: str, odd: tuple[Analysis, Path]) -> None:
    kind, severity, words = HABITS[contender]
    found = kinds(standings(odd[0])[contender].doubts)
    assert kind in found
    assert found[kind].severity == severity
    assert words in found[kind].sentence


@pytest.mark.measures
def test_a_server_without_a_habit_is_not_doubted(odd: tuple[Analysis, Path]) -> None:
    habits = {kind for kind, _, _ in HABITS.values()}
    assert not kinds(standings(odd[0])["odd-none"].doubts).keys() & habits


@pytest.mark.measures
def test_a_plateau_of_delayed_acknowledgements_is_named(odd: tuple[Analysis, Path]) -> None:
    standing = standings(odd[0])["odd-plateau"]
    assert standing.p50 is not None
    if not PLATEAU_NS[0] <= standing.p50.value <= PLATEAU_NS[1]:
        pytest.skip(f"half of the answers take {standing.p50.value / 1e6:.1f} ms here, which is no plateau")
    assert "acknowledgement" in kinds(standing.doubts)["delayed-ack"].sentence


@pytest.mark.measures
def test_a_server_that_dozes_while_clients_wait_is_told(odd: tuple[Analysis, Path]) -> None:
    found = kinds(standings(odd[0])["odd-dozes"].doubts)
    if "idle-while-slow" not in found and "noisy-host" in kinds(odd[0].verdicts[0].doubts):
        pytest.skip("other programs use so much of this machine that an idle server may have been kept from working")
    assert "of one core while 8 clients waited" in found["idle-while-slow"].sentence


@pytest.mark.measures
def test_a_server_that_was_still_getting_faster_is_told(webdyno: Call) -> None:
    found = standings(analysis(webdyno("run", "climbs", "--json")))
    climbing = kinds(found["odd-climbs"].doubts)["still-climbing"]
    assert "times as fast at the end of its turns as at its beginning, after 0.1 s of warm-up" in climbing.sentence
    assert "still-climbing" not in kinds(found["odd-none"].doubts)


def test_who_compiles_is_warmed_up_by_its_answers_where_it_is_measured_alone(webdyno: Call, tmp_path: Path) -> None:
    done = webdyno("run", "compiles", "--json")
    assert done.returncode in (0, 1), done.stderr
    with Store.open(only_folder(tmp_path)) as store:
        runs = store.runs()
    assert [(run.outcome, run.block, run.reused) for run in runs] == [("ok", None, False), ("ok", None, True)]
    for run, enough in zip(runs, (900, 1), strict=True):
        stretches = [each for each in run.slices if each.is_stretch]
        assert 6 <= len(stretches) <= 30
        assert sum(each.ok for each in stretches) >= enough
        assert run.slices[: len(stretches)] == stretches
        own_ns = sum(each.duration_ns for each in run.slices if each.phase == "warmup" and not each.is_stretch)
        assert own_ns < 10**9, "a tenth of 2 s, and not all of them"
        assert [each.index for each in run.slices] == list(range(len(run.slices)))
    first = [each.ok / each.loaded_ns for each in runs[0].slices]
    assert first[0] < first[-1], "it was slow only before it was measured"


def test_what_a_load_tool_cannot_see_is_told(webdyno: Call) -> None:
    done = webdyno("run", "waits", "--json", "--contender", "odd-none", "--driver", "ab", "--duration", "1s")
    if done.returncode == 3 and "not installed" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert (
        "ab does not compare bodies with the correct answer" in kinds(analysis(done).doubts)["driver-limits"].sentence
    )


@pytest.mark.measures
def test_a_server_that_was_killed_for_its_memory_was_capped(odd: tuple[Analysis, Path]) -> None:
    found, folder = odd
    if not limits_memory(folder):
        pytest.skip("memory cannot be limited here")
    assert "killed at its memory limit" in kinds(standings(found)["toy-leak"].doubts)["memory-capped"].sentence


def test_a_rate_that_cannot_be_and_unequal_workers(webdyno: Call) -> None:
    found = analysis(webdyno("run", "waits", "--json"))
    hasty = kinds(standings(found)["odd-hasty"].doubts)["impossible-rate"]
    assert hasty.severity == "voids"
    assert "bound it to 80" in hasty.sentence
    assert standings(found)["odd-hasty"].place is None
    table = kinds(found.verdicts[0].doubts)
    assert "1 (odd-hasty) to 4 (odd-four)" in table["unequal-parallelism"].sentence
    assert "only 1 successful round" in table["few-rounds"].sentence


def test_a_load_that_two_connections_cannot_carry_was_not_offered(webdyno: Call) -> None:
    found = kinds(standings(analysis(webdyno("run", "pressed", "--json")))["odd-none"].doubts)
    assert "of the requests that were due were sent" in found["not-offered"].sentence


@pytest.mark.measures
@redis
def test_answers_from_a_cache_and_a_small_pool(webdyno: Call) -> None:
    found = analysis(webdyno("run", "cached", "--json"))
    cached, asking = standings(found)["toy-redis-cached"], standings(found)["toy-redis-one"]
    assert kinds(cached.doubts)["cached-service"].severity == "voids"
    assert cached.place is None
    assert "cached-service" not in kinds(asking.doubts)
    assert "1 query at a time for 8 connections" in kinds(asking.doubts)["pool-limited"].sentence
    if (os.cpu_count() or 1) < 4:
        assert "service-shares-cores" in kinds(found.doubts)


@contextlib.contextmanager
def thief() -> Iterator[None]:
    """A program that uses all it gets of every core."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


@pytest.mark.measures
def test_a_thief_of_cpu_is_noise(webdyno: Call) -> None:
    with thief():
        found = analysis(webdyno("run", "toys", "--json"))
    assert "other programs used" in kinds(found.verdicts[0].doubts)["noisy-host"].sentence


def test_a_single_core_is_shared(environment: dict[str, str], tmp_path: Path) -> None:
    core = min(os.sched_getaffinity(0))
    done = subprocess.run(
        [sys.executable, "-m", "webdyno", "run", "toys", "--json", "--catalogue", str(CATALOGUE)],
        cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100,
        check=False, preexec_fn=lambda: os.sched_setaffinity(0, {core}),
    )  # fmt: skip
    assert "shared-cores" in kinds(analysis(done).doubts)


@pytest.fixture
def quota() -> Iterator[Path]:
    """A group of the v1 cpu controller of our own, without a limit yet."""
    folder = CPU / f"toy-quota-{os.getpid()}"
    try:
        folder.mkdir()
        (folder / "cpu.shares").write_text("100000")  # or a busy machine gives less than the quota would
    except OSError as error:
        pytest.skip(f"no group of the v1 cpu controller can be made here: {error.strerror}")
    yield folder
    (folder / "cpu.cfs_quota_us").write_text("-1")
    while pids := (folder / "cgroup.procs").read_text().split():  # only after a failure
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        time.sleep(0.05)
    folder.rmdir()


@pytest.mark.measures
def test_a_quota_throttles_the_contender_and_the_load_generator(
    quota: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    process = start(environment, tmp_path, "run", "odd", "--rounds", "3", "--contender", "odd-none")
    (quota / "cgroup.procs").write_text(str(process.pid))
    folder = wait_for_runs(tmp_path / "results", 1)
    (quota / "cpu.cfs_quota_us").write_text("20000")  # in each 100,000
    wait_for_runs(tmp_path / "results", 3, deadline_s=120)
    (quota / "cpu.cfs_quota_us").write_text("-1")
    process.communicate(timeout=60)
    assert [outcome for (outcome,) in query(folder, "SELECT outcome FROM run")] == ["ok"] * 3
    found = kinds(standings(reported(folder, environment))["odd-none"].doubts)
    assert "a CPU quota limited odd-none" in found["throttled"].sentence
    assert "a CPU quota limited the load generator" in found["generator-bound"].sentence


def test_a_plan_that_was_stopped_is_incomplete(environment: dict[str, str], tmp_path: Path) -> None:
    process = start(environment, tmp_path, "run", "toys", "--rounds", "20")
    folder = wait_for_runs(tmp_path / "results", 1)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    found = kinds(reported(folder, environment).doubts)
    assert "of 20 planned runs are missing" in found["incomplete"].sentence
