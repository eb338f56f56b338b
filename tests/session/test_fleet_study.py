"""A study on a fleet, from begin to end and from a stop to the end, with hosts that are made up."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.analyse.fakes import RIG
from tests.session.test_fleet_course import Host, members_of
from tests.shipped import catalogue
from webdyno.model.errors import MachineError, UsageError
from webdyno.model.place import Cluster
from webdyno.model.study import Study
from webdyno.model.trial import Plan
from webdyno.plan import narrow
from webdyno.session import fleet_study
from webdyno.session.fleet import Member
from webdyno.session.fleet_agent import Seen
from webdyno.session.manner import Intent, Manner
from webdyno.session.study import begin, resume
from webdyno.store import Store

FLEET = Cluster(address="auto", fleet=True)


class Machine(Host):
    """A host that finds all it is asked for, but what it is said to lack."""

    def __init__(self, name: str, dies: int | None = None, *, engine: str = "1", **missing: str) -> None:
        super().__init__(name, dies)
        self.seen = Seen(drivers={"engine": engine}, absent={}, missing=missing, lacking={})

    def _begin(self, verb: str, arguments: tuple[Any, ...]) -> None:
        if verb == "carry_out":
            super()._begin(verb, arguments)
        else:
            self._said.put(("done", ({"look_for": self.seen, "lacks": [], "build": 0}[verb],)))


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Says which hosts the fleet has from now on."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def fleet_of(*hosts: Host, cores: int = 1, free: Sequence[int] = ()) -> None:
        @contextmanager
        def manned(_: Cluster, __: Study | Plan, ___: threading.Event) -> Iterator[list[Member]]:
            members = members_of(hosts)
            for member in members:
                rig = msgspec.structs.replace(RIG, contender_host=member.name, contender_cores=tuple(range(cores)))
                member.about = msgspec.structs.replace(member.about, rig=rig)
            for member, free_bytes in zip(members, free, strict=False):
                member.about = msgspec.structs.replace(member.about, free_bytes=free_bytes)
            yield members

        monkeypatch.setattr(fleet_study, "manned", manned)

    return fleet_of


def study(*names: str) -> Study:
    known = catalogue()
    asked = narrow(known.studies["quickstart"], known, contenders=[*names], workloads=["hello"], rounds=3)
    return msgspec.structs.replace(asked, alone=True, design="exhaustive")


def begun(results: Path, said: list[Intent] | None = None) -> Path:
    manner = Manner(far=FLEET, announce=[].append if said is None else said.append)
    arguments = ["quickstart", "--far", "auto", "--fleet"]
    return begin(study("waitress", "wsgiref"), catalogue(), results, arguments=arguments, manner=manner).folder


def hosts_of(folder: Path) -> Sequence[str]:
    with Store.open(folder) as store:
        assert store.done() == {trial.id for trial in store.plan().trials}
        return sorted({run.rig.contender_host for run in store.runs()})


def test_a_study_is_shared_and_its_results_lie_here(on: Any, tmp_path: Path) -> None:
    said: list[Intent] = []
    on(Machine("one"), Machine("other"))
    folder = begun(tmp_path, said)
    assert hosts_of(folder) == ["one", "other"]
    assert (said[0].hosts, said[0].drivers) == (2, {"engine": "1"})
    with Store.open(folder) as store:
        assert list(store.fingerprint().fleet) == ["one", "other"]


def test_it_is_announced_with_the_room_of_the_host_that_has_least(on: Any, tmp_path: Path) -> None:
    said: list[Intent] = []
    on(Machine("one"), Machine("other"), free=[2**35, 2**31])
    begun(tmp_path, said)
    assert said[0].room.memory_bytes == 2**31


def test_what_a_fleet_left_goes_on_with_other_hosts(on: Any, tmp_path: Path) -> None:
    on(Machine("one", dies=3))
    with pytest.raises(MachineError, match="no host of the fleet is left"):
        begun(tmp_path)
    [folder] = (each for each in tmp_path.iterdir() if each.name.startswith("quickstart"))
    on(Machine("two"), Machine("three"))
    resume(folder, catalogue(), manner=Manner(far=FLEET))
    assert hosts_of(folder) == ["one", "three", "two"]
    with Store.open(folder) as store:
        assert [list(each.fleet) for each in store.fingerprints()] == [["one"], ["two", "three"]]


def test_hosts_of_another_size_do_not_go_on(on: Any, tmp_path: Path) -> None:
    on(Machine("one", dies=3))
    with pytest.raises(MachineError):
        begun(tmp_path)
    [folder] = (each for each in tmp_path.iterdir() if each.name.startswith("quickstart"))
    on(Machine("two"), cores=4)
    with pytest.raises(UsageError, match="made with other cores or limits than the hosts of this fleet give"):
        resume(folder, catalogue(), manner=Manner(far=FLEET))
    on(Machine("two", waitress="no python3.11"))
    with pytest.raises(UsageError, match=r"its plan needs waitress, but on two: no python3\.11"):
        resume(folder, catalogue(), manner=Manner(far=FLEET))


def test_what_one_host_lacks_no_host_measures(on: Any, tmp_path: Path) -> None:
    on(Machine("one"), Machine("other", waitress="no python3.11"))
    folder = begun(tmp_path)
    with Store.open(folder) as store:
        plan = store.plan()
    assert list(plan.contenders) == ["wsgiref"]
    assert [skip.reason for skip in plan.skipped] == ["on other: no python3.11"]


def test_load_tools_of_different_versions_are_refused(on: Any, tmp_path: Path) -> None:
    on(Machine("one"), Machine("other", engine="2"))
    with pytest.raises(UsageError, match="engine is 1 on one and 2 on other: install the same on every host"):
        begun(tmp_path)
