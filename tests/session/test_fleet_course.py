"""The course of a fleet: what its hosts say is written down, and what a lost one left is done again by another."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import msgspec
import pytest

from tests.analyse.fakes import FINGERPRINT, RIG, plan, run
from webdyno.design import Block, done_in
from webdyno.load.driver import Event
from webdyno.model.block import Taken
from webdyno.model.errors import MachineError, UsageError
from webdyno.model.further import Further
from webdyno.model.race import Race
from webdyno.model.run import Outcome, Run
from webdyno.model.trial import Plan, Trial, again
from webdyno.session import fleet_course
from webdyno.session.agent import About
from webdyno.session.fleet import Member, build_on, fingerprint_of, refuse_unlike_placements
from webdyno.session.fleet_course import FleetCourse
from webdyno.store import Store


def named(each: Run) -> Run:
    """With an id that names files, as those of plans do."""
    trial = msgspec.structs.replace(each.trial, id=each.trial.id.replace("/", "-"))
    return msgspec.structs.replace(each, trial=trial)


RUNS = [
    named(run(name, round_=round_, workload=work)) for round_ in (1, 2) for work in ("hello", "json") for name in "ab"
]
PLAN = plan(RUNS)


class Host:
    """A host of a fleet, and a carrier to it, that measures in no time; ``dies``: with this block begun, from 1.
    ``ends``: itself, with that block."""

    def __init__(self, name: str, dies: int | None = None, ends: int | None = None) -> None:
        self.name, self.dies, self.ends = name, dies, ends
        self.asked: list[str] = []
        self.carried: list[list[Trial]] = []
        self.stopped = False
        self._said: SimpleQueue[tuple[str, tuple[Any, ...]]] = SimpleQueue()
        self._gone = False

    def __call__(self, verb: str, *arguments: Any, within_s: float = 1.0) -> Any:
        if verb == "begin":
            self.asked.append(arguments[0])
            self._begin(*arguments)
            return None
        if verb == "next":
            if self._said.empty() and self._gone:
                raise MachineError(f"{self.name}, a host of the fleet, is gone")
            return [self._said.get()]
        self.stopped = self.stopped or verb == "stop"
        return None

    def _begin(self, verb: str, arguments: tuple[Any, ...]) -> None:
        for block in arguments[0] if verb == "carry_out" else ():
            self.carried.append([*block])
            if self.ends is not None and len(self.carried) > self.ends:
                break
            self._said.put(("begun", ([*block],)))
            if len(self.carried) == self.dies:
                self._gone = True
                return
            self._said.put(
                (
                    "runs",
                    (
                        [self.made(trial) for trial in block],
                        {f"{block[0].id}.contender.log": b"said", "../stray.log": b"stray"},
                    ),
                )
            )
        self._said.put(("done", ([],)))

    def made(self, trial: Trial) -> Run:
        rig = msgspec.structs.replace(RIG, contender_host=self.name)
        outcome: Outcome = "interrupted" if len(self.carried) == self.ends else "ok"
        made = run(trial.contender, workload=trial.workload, rig=rig)
        return msgspec.structs.replace(made, trial=trial, outcome=outcome)


class Ear:
    def __init__(self, then: Callable[[], object] = lambda: None) -> None:
        self.begun: list[Block] = []
        self.ended: list[Run] = []
        self.then = then

    def begin(self, block: Block) -> None:
        self.begun.append(block)

    def event(self, event: Event | Taken) -> None: ...

    def end(self, run: Run) -> None:
        self.ended.append(run)
        self.then()


def members_of(hosts: Sequence[Host]) -> list[Member]:
    members = [Member(host, host.name) for host in hosts]
    for member in members:
        rig = msgspec.structs.replace(RIG, contender_host=member.name)
        member.about = About(fingerprint=FINGERPRINT, engine="1", rig=rig, cache="/cache", free_bytes=2**34)
    return members


@contextmanager
def carried(
    folder: Path,
    hosts: Sequence[Host],
    made: Plan = PLAN,
    ear: Ear | None = None,
    interrupted: threading.Event | None = None,
) -> Iterator[Store]:
    members = members_of(hosts)
    with Store.create(folder / "r", made, fingerprint_of(members)) as store:
        FleetCourse(made, store, members, ear or Ear(), interrupted or threading.Event()).run()
        yield store


def test_hosts_share_the_rounds_of_tables_and_all_runs_are_written_down(tmp_path: Path) -> None:
    one, other, ear = Host("one"), Host("other"), Ear()
    with carried(tmp_path, [one, other], ear=ear) as store:
        runs = store.runs()
        assert all(store.contender_log(each.trial).read_bytes() == b"said" for each in runs)
        assert not list(tmp_path.rglob("stray*"))
    assert {each.trial.id for each in runs} == {trial.id for trial in PLAN.trials} and len(runs) == len(RUNS)
    assert len(ear.begun) == len(ear.ended) == len(RUNS)
    by_round: dict[tuple[str, int], set[str]] = {}
    for each in runs:
        by_round.setdefault((each.trial.workload, each.trial.round), set()).add(each.rig.contender_host)
    assert all(len(of_round) == 1 for of_round in by_round.values()), "a round of a table stays on one host"


def test_what_a_lost_host_had_begun_is_done_again_and_it_is_given_nothing_more(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "webdyno")
    one, other = Host("one"), Host("other", dies=2)
    with carried(tmp_path, [one, other]) as store:
        runs = store.runs()
        lost = [each for _, each in store.numbered(replaced=True) if each.outcome == "interrupted"]
    assert {each.trial.id for each in runs} == {trial.id for trial in PLAN.trials}
    assert [each.trial for each in lost] == other.carried[1]
    assert lost[0].message == "its host was lost: other, a host of the fleet, is gone"
    assert lost[0].rig.contender_host == "other"
    assert other.asked == ["carry_out"], "one that is lost is asked nothing more"
    assert "other, a host of the fleet, is gone; the fleet goes on without it" in caplog.messages[0]


def test_a_host_that_ended_itself_is_given_nothing_more(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "webdyno")
    one, other = Host("one"), Host("other", ends=2)
    with carried(tmp_path, [one, other]) as store:
        assert store.done() == {trial.id for trial in PLAN.trials}
    assert len(other.carried) == 2
    assert "other stopped before its blocks were measured; the fleet goes on without it" in caplog.messages[0]


def test_without_any_host_left_it_says_so_and_keeps_what_was_done(tmp_path: Path) -> None:
    with (
        pytest.raises(MachineError, match=r"no host of the fleet is left, and 7 trials are.*--resume"),
        carried(tmp_path, [Host("one", dies=2)]),
    ):
        pass
    with Store.open(tmp_path / "r") as store:
        assert len(store.done()) == 1


def test_a_trial_that_takes_three_hosts_with_it_is_left_undone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Mortal(Host):
        def _begin(self, verb: str, arguments: tuple[Any, ...]) -> None:
            self.dies = next(
                (at for at, block in enumerate(arguments[0], len(self.carried) + 1) if block[0].contender == "b"), None
            )
            super()._begin(verb, arguments)

    made = plan(RUNS[:2])
    caplog.set_level("INFO", "webdyno")
    with carried(tmp_path, [Mortal(f"host-{number}") for number in range(5)], made) as store:
        assert store.done() == {RUNS[0].trial.id}
    assert caplog.messages[-1] == "note: 1 trial of b left undone: 3 hosts were lost with each of them in flight"


def test_a_host_that_sends_runs_of_other_trials_counts_as_lost(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Liar(Host):
        def made(self, trial: Trial) -> Run:
            return super().made(RUNS[-1].trial)

    caplog.set_level("INFO", "webdyno")
    with carried(tmp_path, [Host("one"), Liar("liar")]) as store:
        assert {each.rig.contender_host for each in store.runs()} == {"one"}
        assert store.done() == {trial.id for trial in PLAN.trials}
    assert "liar sent runs of other trials than it was given" in caplog.messages[0]


def test_a_user_who_stops_it_stops_all_hosts(tmp_path: Path) -> None:
    interrupted, hosts = threading.Event(), [Host("one"), Host("other")]
    with carried(tmp_path, hosts, ear=Ear(interrupted.set), interrupted=interrupted) as store:
        assert 0 < len(store.runs()) < len(RUNS)


def test_what_fails_here_ends_the_hosts_too(tmp_path: Path) -> None:
    def fail() -> None:
        raise MachineError("the disk is full")

    slow = Host("one")
    with pytest.raises(MachineError, match="the disk is full"), carried(tmp_path, [slow], ear=Ear(fail)):
        pass
    assert len(slow.carried) <= 2


def test_a_race_on_a_fleet_ends_as_the_race_does(tmp_path: Path) -> None:
    runs = [named(run(name, round_=round_)) for round_ in range(1, 7) for name in "abc"]
    made = plan(runs, race=Race(least_rounds=3, most_rounds=6, top=None))
    with carried(tmp_path, [Host("one"), Host("other")], made) as store:
        assert {each.trial.round for each in store.runs()} >= {1, 2, 3}
        assert len(store.runs()) >= 9


def test_rounds_that_open_claims_ask_for_are_added_to_the_plan_once_its_own_are_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = [again(PLAN, trial, 3) for trial in PLAN.trials if trial.round == 2 and trial.workload == "json"]
    asked: list[int] = []

    def design(runs: Sequence[Run]) -> list[Block]:
        asked.append(len(runs))
        return [[trial] for trial in more if trial.id not in done_in(runs)]

    monkeypatch.setattr(fleet_course, "design_of", lambda *_: design)
    made = msgspec.structs.replace(PLAN, further=Further(looks=[3], budget_s=60.0), whole_rounds=2)
    with carried(tmp_path, [Host("one"), Host("other")], made) as store:
        assert store.done() == {trial.id for trial in [*PLAN.trials, *more]}
        assert [trial.id for trial in store.plan().trials[len(PLAN.trials) :]] == [trial.id for trial in more]
    assert min(asked) == len(PLAN.trials)


def test_hosts_that_give_contenders_other_cores_are_refused() -> None:
    one, other = members_of([Host("one"), Host("other")])
    refuse_unlike_placements([one, other])
    rig = msgspec.structs.replace(RIG, contender_cores=(0, 1, 2))
    other.about = msgspec.structs.replace(other.about, rig=rig)
    with pytest.raises(UsageError, match=r"one has 1 core for contenders.*; other has 3 cores for contenders"):
        refuse_unlike_placements([one, other])


def test_one_host_of_each_kind_builds_and_the_others_fetch_that() -> None:
    class Builder(Host):
        def _begin(self, verb: str, arguments: tuple[Any, ...]) -> None:
            answers = {"build": 1, "lacks": ["environments/x"], "pack": ("/tmp/packed", 1), "unpack": None}
            self._said.put(("done", (answers[verb],)))

    hosts = [Builder("one"), Builder("two"), Builder("odd")]
    members = members_of(hosts)
    members[2].about = msgspec.structs.replace(
        members[2].about, fingerprint=msgspec.structs.replace(FINGERPRINT, cpu_model="another")
    )
    build_on(members, PLAN, 1)
    assert [host.asked for host in hosts] == [["build", "pack"], ["lacks", "unpack", "build"], ["build"]]
