"""Plans that go on: the line that is offered, what has to be given again, and what never can be."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.analyse import fakes
from tests.shipped import catalogue
from webdyno.model.again import Again
from webdyno.model.claim import Claim
from webdyno.model.errors import UsageError
from webdyno.model.further import Further
from webdyno.model.load import Load
from webdyno.model.paired import Paired, Revisions
from webdyno.model.place import Cluster
from webdyno.model.trial import Plan
from webdyno.model.workload import Request
from webdyno.session.manner import Manner, refuse_other_manner
from webdyno.session.resuming import (
    further_of,
    line_of,
    not_by,
    on_its_machine,
    recall,
    refuse_another_machine,
    why_nothing_followed,
    with_definitions_of,
)
from webdyno.session.tryout.evidence import ANSWER
from webdyno.session.tryout.resuming import _finished
from webdyno.store import FILE, Store

FOLDER = Path("results/x")
PASSWORD = "open-sesame"


def compared(*requests: list[tuple[str, str]], **made: Any) -> Plan:
    """A comparison of two revisions that asks with those headers."""
    base = fakes.plan([fakes.run("base"), fakes.run("head")], trials=[], study="compare")
    asked = [Request(name=str(at), path=f"/{at}", headers=headers) for at, headers in enumerate(requests)]
    workloads = {name: msgspec.structs.replace(it, requests=asked) for name, it in base.workloads.items()}
    revisions = Revisions(repository="/shop", revs=["a", "b"], commits=["1", "2"], **({"cmd": "x {port}"} | made))
    paired = Paired(load=Load(connections=1, duration_s=1.0), margin=0.03, most=18, budget_s=60, revisions=revisions)
    served = base.contenders
    if revisions.cmd is not None:
        words = shlex.split(revisions.cmd)
        served = {name: msgspec.structs.replace(it, serve=words) for name, it in served.items()}
    return msgspec.structs.replace(base, workloads=workloads, contenders=served, paired=paired)


def stored(folder: Path, plan: Plan) -> Plan:
    """As it is read again."""
    with Store.create(folder, plan, fakes.FINGERPRINT):
        pass
    with Store.open(folder) as store:
        return store.plan()


def test_the_line_names_what_has_to_be_given_again(tmp_path: Path) -> None:
    plan = stored(tmp_path, compared([("Cookie", PASSWORD), ("Accept", "*/*")], variables=["DSN"]))
    assert line_of(plan, FOLDER) == "webdyno compare --resume results/x -H 'Cookie: ...' --env DSN=..."
    assert line_of(fakes.plan([fakes.run()]), FOLDER, [Path("mine")]) == (
        "webdyno run --resume results/x --catalogue mine"
    )


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        (
            compared([("Cookie", "a")], [("cookie", "b")]),
            "several of its requests send a header whose value no results",
        ),
        (compared([], builds=[f"pip install https://me:{PASSWORD}@host/x"]), "its commands hold a password"),
        (compared([], cmd=f"serve {{port}} redis://me:{PASSWORD}@host"), "its commands hold a password"),
    ],
)
def test_what_cannot_be_given_again_is_not_offered_and_is_refused(plan: Plan, why: str, tmp_path: Path) -> None:
    assert line_of(stored(tmp_path, plan), FOLDER) is None
    assert PASSWORD.encode() not in (tmp_path / FILE).read_bytes()
    with Store.open(tmp_path) as store, pytest.raises(UsageError, match=f"{why}.*: start over"):
        recall(store, catalogue(), Again(headers=[("Cookie", "a")]))


def test_a_header_is_filled_in_where_it_was(tmp_path: Path) -> None:
    plan = compared([("Accept", "*/*"), ("Authorization", PASSWORD)])
    stored(tmp_path, plan)
    with Store.open(tmp_path) as store:
        recall(store, catalogue(), Again(headers=[("authorization", PASSWORD)]))
        assert store.plan() == plan


def test_a_workload_of_the_catalogue_takes_no_header(tmp_path: Path) -> None:
    plan = compared([], cmd=None, contender_file="bench/contenders/mine.toml")
    stored(tmp_path, plan)
    with Store.open(tmp_path) as store, pytest.raises(UsageError, match=r"-H 'A: ...': .* sends what its workload"):
        recall(store, catalogue(), Again(headers=[("A", "b")]))


@pytest.mark.parametrize("study", ["try", "load"])
def test_what_is_not_resumed_says_so(study: str) -> None:
    made = msgspec.structs.replace(fakes.plan([fakes.run()]), study=study)
    with pytest.raises(UsageError, match=f"webdyno {study} made these results, and that cannot be resumed: start over"):
        with_definitions_of(made, catalogue())
    assert str(not_by("compare", made, FOLDER)) == (
        f"results/x: webdyno {study} made it, and that cannot be resumed: start over"
    )
    with pytest.raises(UsageError, match="the plan serves app 'bare', which is not in the catalogue; give --catalogue"):
        with_definitions_of(fakes.plan([fakes.run()]), catalogue())


def test_the_answer_of_a_tryout_is_not_waited_for(tmp_path: Path) -> None:
    """In a folder that was mailed it may be a pipe."""
    os.mkfifo(tmp_path / ANSWER)
    writer = os.open(tmp_path / ANSWER, os.O_RDWR | os.O_NONBLOCK)  # one that never writes
    assert _finished(tmp_path) is None
    os.close(writer)


def test_a_study_that_ended_goes_on_with_more_time_for_its_open_claims(tmp_path: Path) -> None:
    runs = [fakes.run(round_=round_, seconds=2.0) for round_ in (1, 2, 3)]
    further = Further(looks=[2, 4], budget_s=60.0)
    plan = msgspec.structs.replace(fakes.plan(runs), whole_rounds=1, further=further)
    with Store.create(tmp_path / "r", plan, fakes.FINGERPRINT) as store:
        for run in runs:
            store.append(run)
        assert further_of(store, 900.0) == msgspec.structs.replace(further, budget_s=904.0)
        store.grow([], further=further_of(store, 900.0))
        assert store.plan() == msgspec.structs.replace(plan, further=further_of(store, 900.0))
    refused = pytest.raises(UsageError, match="its plan has no further rounds for open claims: leave --further out")
    with Store.create(tmp_path / "none", fakes.plan(runs), fakes.FINGERPRINT) as store, refused:
        further_of(store, 900.0)


def test_further_rounds_that_nothing_needs_are_told(tmp_path: Path) -> None:
    further = Further(looks=[6, 9], budget_s=60.0)
    plan = msgspec.structs.replace(fakes.plan([fakes.run()]), further=further)
    with Store.create(tmp_path / "r", plan, fakes.FINGERPRINT) as store:
        store.append(fakes.run())
        assert why_nothing_followed(store) == "nothing was measured: no claim is open that more rounds can decide"


def test_further_rounds_that_there_is_no_time_for_are_told_with_what_to_try(tmp_path: Path) -> None:
    rates = {"go": (1000.0, 1100.0, 1050.0), "node": (1010.0, 1040.0, 1090.0)}
    runs = [
        fakes.run(name, rate=rate, round_=round_, seconds=20.0)
        for name, each in rates.items()
        for round_, rate in enumerate(each, start=1)
    ]
    claim = Claim(text="go serves more", contenders=["go"], relation="more than", than=["node"])
    made = fakes.plan(runs, rounds=3, whole_rounds=3, claims=[claim], further=Further(looks=[6, 9], budget_s=9.0))
    with Store.create(tmp_path / "r", made, fakes.FINGERPRINT) as store:
        for run in runs:
            store.append(run)
        assert why_nothing_followed(store) == (
            "nothing was measured: the next look at an open claim takes 2 min of further rounds or more; "
            "try --further 2m"
        )


def test_load_from_another_host_goes_on_with_it_alone_and_the_line_says_so(tmp_path: Path) -> None:
    runs = [fakes.run()]
    plan = msgspec.structs.replace(fakes.plan(runs), arguments=["hello", "--far", "10.0.0.1:6379", "--allow-public"])
    line = line_of(plan, tmp_path)
    assert line is not None and line.endswith(" --far 10.0.0.1:6379 --allow-public")
    far = msgspec.structs.replace(fakes.FINGERPRINT, driver=fakes.FINGERPRINT)
    for number, (machine, cluster, word) in enumerate(
        [(far, None, "give --far again"), (fakes.FINGERPRINT, Cluster(address="auto"), "leave --far out")]
    ):
        with (
            Store.create(tmp_path / str(number), plan, machine) as store,
            pytest.raises(UsageError, match=word),
            on_its_machine(store, wait=False, far=cluster),
        ):
            pass
    other = msgspec.structs.replace(far, driver=msgspec.structs.replace(fakes.FINGERPRINT, cores=64))
    with pytest.raises(UsageError, match="cores of the load's machine"):
        refuse_another_machine(plan, tmp_path, far, other)


def test_what_a_fleet_began_goes_on_on_a_fleet_and_nothing_else_does(tmp_path: Path) -> None:
    plan = fakes.plan([fakes.run()], arguments=["quickstart", "--far", "auto", "--fleet"])
    assert line_of(plan, FOLDER) == "webdyno run --resume results/x --far auto --fleet"
    fleet, alone = Manner(far=Cluster(address="auto", fleet=True)), Manner()
    machine = msgspec.structs.replace(fakes.FINGERPRINT, fleet={"10.0.0.2": fakes.FINGERPRINT})
    with Store.create(tmp_path / "of-fleet", plan, machine) as store:
        refuse_other_manner(store, fleet)
        with pytest.raises(UsageError, match="on a fleet: give --far and --fleet again"):
            refuse_other_manner(store, alone)
    with Store.create(tmp_path / "of-one", plan, fakes.FINGERPRINT) as store:
        refuse_other_manner(store, alone)
        with pytest.raises(UsageError, match="on one machine: leave --fleet out"):
            refuse_other_manner(store, fleet)
