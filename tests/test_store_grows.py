"""A plan that grows: a search decides on its next Trial after the Run before, and a reader sees both."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from tests.analyse import fakes
from webdyno.model.errors import MachineError, UsageError, WebdynoError
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.store import FILE, Store, bodies, opening


def test_trials_are_added_at_the_end_and_runs_follow(tmp_path: Path) -> None:
    runs = [fakes.run("go", round_=number) for number in (1, 2, 3)]
    empty = msgspec.structs.replace(fakes.plan(runs), trials=[], rounds=1)
    with Store.create(tmp_path / "r", empty, fakes.FINGERPRINT) as store:
        for run in runs:
            store.grow([run.trial])
            store.append(run)
        store.grow([])
        assert store.done() == {run.trial.id for run in runs}
    with Store.open(tmp_path / "r") as again:
        plan = again.plan()
        assert plan.trials == [run.trial for run in runs]
        assert plan.rounds == 3
        assert msgspec.structs.replace(plan, trials=[], rounds=1) == empty
    with sqlite3.connect(tmp_path / "r" / FILE) as connection:
        rows = connection.execute("SELECT position, id, round FROM trial ORDER BY position").fetchall()
        assert rows == [(at, run.trial.id, at + 1) for at, run in enumerate(runs)]
        assert connection.execute("SELECT rounds FROM plan").fetchall() == [(3,)]
    connection.close()


def test_who_is_new_comes_with_their_trials_and_stays_when_more_are_added(tmp_path: Path) -> None:
    runs = [fakes.run(name) for name in ("go", "node", "pypy")]
    warm = fakes.plan(runs)
    warm = msgspec.structs.replace(warm, contenders={**warm.contenders, "go": fakes.contender("go", warmup_s=9.0)})
    with Store.create(tmp_path / "r", fakes.plan(runs[:1]), fakes.FINGERPRINT) as store:
        store.grow([runs[1].trial], fakes.plan(runs[:2]))
        store.grow([runs[2].trial], warm)
        store.grow([fakes.trial(round_=2)])
        assert store.plan().contenders == warm.contenders
    with Store.open(tmp_path / "r") as again:
        assert again.plan().contenders == warm.contenders
        assert [trial.contender for trial in again.plan().trials] == ["go", "node", "pypy", "go"]


def test_a_folder_that_is_only_read_does_not_grow(tmp_path: Path) -> None:
    run = fakes.run("go")
    Store.create(tmp_path / "r", fakes.plan([run]), fakes.FINGERPRINT).close()
    with Store.open(tmp_path / "r") as store, pytest.raises(WebdynoError) as caught:
        store.grow([run.trial])
    assert isinstance(caught.value, MachineError)


def test_who_writes_reads_each_run_once_and_drops_the_interrupted_that_were_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan of thousands of Trials asks what is known after each of them."""
    read = Counter[type]()
    believe = bodies.read

    def count(body: object, kind: type) -> object:
        read[kind] += 1
        return believe(body, kind)

    monkeypatch.setattr(bodies, "read", count)
    runs = [fakes.run("go", round_=number) for number in (1, 2, 3)]
    stopped = msgspec.structs.replace(runs[1], outcome="interrupted")
    with Store.create(tmp_path / "r", fakes.plan(runs), fakes.FINGERPRINT) as store:
        seen = []
        for each in (runs[0], stopped, runs[2], runs[1]):
            store.append(each)
            seen.append([(it.trial.round, it.outcome) for it in store.runs()])
    first, second, third = (1, "ok"), (2, "ok"), (3, "ok")
    assert seen == [[first], [first, (2, "interrupted")], [first, (2, "interrupted"), third], [first, third, second]]
    assert (read[Run], read[Plan]) == (4, 1)


def test_a_plan_that_could_not_be_read_again_is_not_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [fakes.run("go", round_=number) for number in (1, 2, 3)]
    monkeypatch.setattr(opening, "LARGEST_BODY_BYTES", 1000)
    with pytest.raises(UsageError, match=r"^3 trials are more than a results file may hold: ask for fewer rounds$"):
        Store.create(tmp_path / "r", fakes.plan(runs), fakes.FINGERPRINT)
    assert not (tmp_path / "r").exists()
