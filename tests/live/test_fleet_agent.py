"""A host of a fleet without a network between: it is taken, builds, measures blocks whole and gives all of it away."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.live.conftest import CATALOGUE
from tests.rig.strapping import own_lock
from webdyno.build import complete, unpack
from webdyno.model.catalogue import Catalogue
from webdyno.model.run import Run
from webdyno.model.trial import Plan, Trial
from webdyno.plan import make_plan, narrow
from webdyno.read import default_folder, read_catalogue
from webdyno.session import agent as agent_module
from webdyno.session.agent import error_of
from webdyno.session.fleet import Member
from webdyno.session.fleet_agent import Asked, FleetAgent, Needed, packed
from webdyno.session.folders import cache_folder

__all__ = ["own_lock"]
NAMES = ["toy-good", "wsgiref"]
ASKED = Asked(
    name="there", carrier="a wire", sign="no-daemon-of-it", memory_bytes=None, cores=None, way=None, cpus=None
)
KNOWN = read_catalogue([default_folder(), CATALOGUE])
KNOWN.contenders["toy-good"] = msgspec.structs.replace(KNOWN.contenders["toy-good"], ready_s=20.0)


class Wire:
    """A carrier that carries nothing far."""

    def __init__(self, agent: FleetAgent) -> None:
        self.agent = agent

    def __call__(self, verb: str, *arguments: Any, within_s: float = 1.0) -> Any:
        kind, value = self.agent.answer(verb, arguments)
        if kind:
            raise error_of(kind, value)
        return value


@pytest.fixture
def wire(own_lock: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Iterator[Wire]:
    monkeypatch.setenv("WEBDYNO_CACHE", str(cache))
    agent = FleetAgent()
    yield Wire(agent)
    agent.give_back()


@pytest.fixture
def member(wire: Wire) -> Member:
    return Member(wire, "there")


def plan_of(known: Catalogue, *, alone: bool = False) -> Plan:
    study = narrow(
        known.studies["quickstart"],
        known,
        contenders=NAMES,
        workloads=["hello"],
        connections=[2],
        duration_s=1.0,
        rounds=2,
    )
    return make_plan(msgspec.structs.replace(study, alone=alone), known, {})


def ready(member: Member, plan: Plan) -> None:
    member.about = member.do("man", ASKED)
    needed = Needed(contenders=NAMES, workloads=["hello"], drivers=["engine"])
    seen = member.do("look_for", packed(KNOWN, NAMES, ["hello"]), needed)
    assert not (seen.absent or seen.missing or seen.lacking) and set(seen.drivers) == {"engine"}
    member.do("build", plan, 7, 3)


def test_blocks_are_measured_there_and_their_runs_and_logs_come_back(member: Member) -> None:
    plan, heard = plan_of(KNOWN), list[tuple[str, tuple[Any, ...]]]()
    ready(member, plan)
    rounds = [[trial for trial in plan.trials if trial.round == round_] for round_ in (1, 2)]
    for round_ in rounds:
        member.do("carry_out", [round_], heard=lambda *said: heard.append(said))
    assert [kind for kind, _ in heard] == ["begun", "runs", "begun", "runs"]
    assert heard[0][1] == (rounds[0],)
    blocks = [runs for kind, (runs, *_) in heard if kind == "runs"]
    for number, runs in zip((7, 10), blocks, strict=True):
        assert [run.outcome for run in runs] == ["ok", "ok"], [run.message for run in runs]
        assert {run.block for run in runs} == {number}, "hosts number their blocks apart"
        assert {run.rig.contender_host for run in runs} == {"there"}
    [first, _] = [said[1] for kind, said in heard if kind == "runs"]
    assert f"{rounds[0][0].id}.contender.log" in first


def test_a_host_whose_session_is_lost_ends_what_it_measures(
    member: Member, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(KNOWN)
    ready(member, plan)
    wire("begin", "carry_out", ([plan.trials[:2]],))
    while "begun" not in [kind for kind, _ in wire("next")]:
        continue
    monkeypatch.setattr(agent_module, "LOST_S", 0.2)
    time.sleep(0.5)
    deadline, runs = time.monotonic() + 30, list[Run]()
    while not runs and time.monotonic() < deadline:
        runs += [run for kind, said in wire.agent.next() if kind == "runs" for run in said[0]]
    assert {run.outcome for run in runs} == {"interrupted"}


def test_one_that_is_told_to_stop_records_its_block_and_begins_no_other(member: Member) -> None:
    plan, heard = plan_of(KNOWN, alone=True), list[str]()
    ready(member, plan)

    def hear(kind: str, said: tuple[Any, ...]) -> None:
        heard.append(kind)
        if kind == "begun":
            threading.Thread(target=member.stop).start()

    batch: list[list[Trial]] = [[trial] for trial in plan.trials[:3]]
    member.do("carry_out", batch, heard=hear)
    assert heard == ["begun", "runs"]


def test_what_one_host_built_another_of_its_kind_unpacks(member: Member, wire: Wire, tmp_path: Path) -> None:
    ready(member, plan_of(KNOWN))
    assert member.do("lacks", plan_of(KNOWN)) == []
    [name, *_] = [f"environments/{path.name}" for path in (cache_folder() / "environments").iterdir() if complete(path)]
    packed_, length = member.do("pack", name)
    assert length == Path(packed_).stat().st_size
    unpack(Path(packed_), tmp_path / "unpacked", threading.Event())
    there, here = cache_folder() / name, tmp_path / "unpacked"
    assert complete(here) == complete(there)
    assert (here / "bin" / "python").readlink() == (there / "bin" / "python").readlink()
    assert {path.relative_to(here) for path in here.rglob("*")} == {
        path.relative_to(there) for path in there.rglob("*")
    }
    assert member.do("pack", "environments/none") == ("", 0)
