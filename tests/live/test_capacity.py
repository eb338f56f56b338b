"""``webdyno capacity`` from end to end: a real server, started anew for every trial, under a real open load."""

from __future__ import annotations

import json
import signal
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from tests.live import left_behind
from tests.live.conftest import Call
from tests.live.test_run import start, wait_for_runs
from webdyno.analyse.capacity import Tried
from webdyno.commands.slo import objectives
from webdyno.design.rate_search import tried_of
from webdyno.store import Store

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]
SHORT = ("--slo", "p99<2s", "-d", "200ms", "--warmup", "100ms", "--budget", "30s")
"""A miss by the noise of the machine would have the last rate asked 60 times."""


def nothing_left(cache: Path) -> bool:
    """Of ours: another webdyno may be at work on this machine."""
    mine = [process for process in left_behind.processes() if str(cache) in process]
    return mine == [] and left_behind.ledgers(cache) == []


def told(store: Store) -> list[Tried]:
    """What the trials say of the objectives, without those that the load generator could not offer."""
    sought = store.plan().sought
    assert sought is not None
    tried = [tried_of(run, objectives(sought.slo)) for run in store.runs() if run.outcome != "interrupted"]
    return [each for each in tried if each.result != "not-offered"]


def all_met(tried: list[Tried]) -> bool:
    """A machine that stood still for a moment misses the objectives for the server: that is noise, and no fault."""
    return bool(tried) and all(each.result == "met" for each in tried)


def known(said: dict[str, Any], tried: list[Tried]) -> None:
    """The answer is that of the trials that were written down, whatever the noise of the machine made of them."""
    highest = max(each.rate_per_s for each in tried) if all_met(tried) else None
    assert said["capacity"]["at_least_per_s"] == highest, tried


def test_the_rates_of_a_contender_are_tried_and_kept(webdyno: Call, tmp_path: Path, cache: Path) -> None:
    done = webdyno("capacity", "toy-good", *SHORT, "--from", "50", "--most", "100", "--json")
    said = json.loads(done.stdout)
    with Store.open(tmp_path / said["folder"]) as store:
        tried = told(store)
        known(said, tried)
        rates = [run.trial.load.rate_per_s for run in store.runs()]
        assert rates[0] == 50
        assert len({run.started_at for run in store.runs()}) == len(rates)
    if all_met(tried) and len(tried) == len(rates):
        assert done.returncode == 0, done.stderr
        assert set(rates[1:]) == {100}, "how often the last is asked is for the noise to decide"
    assert nothing_left(cache)


def test_a_contender_that_never_serves_is_said_with_its_log(webdyno: Call, cache: Path) -> None:
    done = webdyno("capacity", "toy-exit", *SHORT)
    assert done.returncode == 1
    assert "exited-at-start" in done.stderr
    assert "toy: cannot find its configuration" in done.stderr
    assert nothing_left(cache)


def test_ctrl_c_tells_what_is_known_so_far(environment: dict[str, str], tmp_path: Path, cache: Path) -> None:
    process = start(environment, tmp_path, "capacity", "toy-good", "--slo", "p99<2s", "-d", "300ms", "--from", "10")
    wait_for_runs(tmp_path / "results", 2)
    process.send_signal(signal.SIGINT)
    told, complaints = process.communicate(timeout=30)
    assert process.returncode == 130, complaints
    assert "toy-good under p99<2s: at least " in told
    assert nothing_left(cache)
    (folder,) = (tmp_path / "results").iterdir()
    assert f"stopped; to go on: webdyno capacity --resume results/{folder.name}" in complaints


def test_a_search_that_was_stopped_goes_on(
    webdyno: Call, environment: dict[str, str], tmp_path: Path, cache: Path
) -> None:
    process = start(environment, tmp_path, "capacity", "toy-good", *SHORT, "--from", "10", "--most", "80")
    wait_for_runs(tmp_path / "results", 1)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    (folder,) = (tmp_path / "results").iterdir()
    with Store.open(folder) as store:
        before = [run.started_at for run in store.runs() if run.outcome != "interrupted"]
    done = webdyno("capacity", "--resume", str(folder), "--json")
    with Store.open(folder) as store:
        tried, runs = told(store), store.runs()
    known(json.loads(done.stdout), tried)
    assert [run.started_at for run in runs[: len(before)]] == before
    rates = [run.trial.load.rate_per_s for run in runs if run.outcome != "interrupted"]
    if all_met(tried) and len(tried) == len(rates):
        assert done.returncode == 0, done.stderr
        climbed = [rate for rate, _ in groupby(rates)]
        assert climbed == [10, 20, 40, 80][: len(climbed)], "none is asked again"
    assert nothing_left(cache)
