"""A fleet of two hosts shares a study through Ray: the hosts are network namespaces of the test's own."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import pytest

from tests.live.conftest import CATALOGUE
from tests.live.hosts import Made, hosts_joined, why_not
from tests.live.test_far import engine_in, only_store, wait_until_at_work
from webdyno.model.run import Run
from webdyno.rig.process import command_of, read_stat

REASON = why_not()
pytestmark = [
    pytest.mark.live,
    pytest.mark.timeout(300),
    pytest.mark.skipif(REASON is not None, reason=str(REASON)),
    pytest.mark.xdist_group("far"),
]
CONTENDERS = ("wsgiref", "toy-patient")
"""Nothing of theirs has to be fetched, for these hosts reach nobody but each other."""


@pytest.fixture(scope="module")
def hosts() -> Iterator[list[Made]]:
    """With a catalogue of the head's own: it has a toy that may take its time to start, for two hosts share a core."""
    with hosts_joined(3, alike=True) as made:
        toy = (CATALOGUE / "contenders" / "toy-good.toml").read_text().replace("ready_s = 2.0", "ready_s = 20.0")
        (made[0].folder / "mine" / "contenders").mkdir(parents=True)
        (made[0].folder / "mine" / "contenders" / "toy-patient.toml").write_text(toy)
        yield made


def study(head: Made, *more: str) -> tuple[str, ...]:
    asked = ("quickstart", "-k", ",".join(CONTENDERS), "-w", "hello", "-c", "4", "--exhaustive", *more)
    known = ("--catalogue", str(CATALOGUE), "--catalogue", str(head.folder / "mine"), "--trust")
    as_root = "--no-as-user"  # else contenders and engines are in networks of their own, where no test finds them
    placed = ("--far", f"{head.address}:6379", "--fleet")
    return (sys.executable, "-m", "webdyno", "run", *asked, *known, as_root, *placed)


def left_on(host: Made) -> list[str]:
    """Command lines of contenders and engines there."""
    lines = [" ".join(command_of(pid)) for pid in host.pids()]
    return [line for line in lines if "webdyno-engine" in line or "/apps/" in line or "toy.py" in line]


def wait_for_its_second_block(host: Made) -> None:
    first = engine_in(host)
    deadline = time.monotonic() + 60
    while read_stat(first) is not None:
        assert time.monotonic() < deadline, "its first block does not end"
        time.sleep(0.05)
    wait_until_at_work(engine_in(host))


def assert_of_fleet(runs: list[Run], hosts: list[Made]) -> None:
    """Each was measured as on one machine, and says on which."""
    head = hosts[0]
    for run in runs:
        assert run.outcome == "ok", run.message
        assert run.rig.contender_host in {host.address for host in hosts[1:]} and not run.rig.driver_host
        assert "1 of " in run.rig.contender_machine and run.rig.carrier.startswith("Ray ")
        assert any(each.role == "carrier" for each in run.readings)
    assert not left_on(head)


def test_a_cable_that_is_pulled_for_five_seconds_costs_nothing(hosts: list[Made]) -> None:
    head, one, other = hosts
    with head.start(*study(head, "-d", "4s", "-r", "2")) as process:
        wait_until_at_work(engine_in(other))
        other.cut()
        time.sleep(5)
        other.join()
        _, err = process.communicate(timeout=200)
    assert process.returncode == 0 and "goes on without it" not in err, err
    assert f"built 2 contenders on {one.address}" in err and f"{other.address} fetched" in err
    with only_store(head) as store:
        runs = [run for _, run in store.numbered(replaced=True)]
        assert {run.trial.id for run in runs} == {trial.id for trial in store.plan().trials}
    assert len(runs) == 4
    assert_of_fleet(runs, hosts)
    store.folder.rename(head.folder / "before")


def test_a_host_that_is_killed_has_its_block_done_again_by_the_other(hosts: list[Made]) -> None:
    head, one, other = hosts
    with head.start(*study(head, "-d", "2s", "-r", "4"), MY_TOKEN="hunter2") as process:
        wait_for_its_second_block(other)
        other.kill()
        out, err = process.communicate(timeout=200)
    assert process.returncode == 0, err
    assert f"{other.address}, a host of the fleet, is gone" in err and "Traceback" not in err
    with only_store(head) as store:
        runs, plan, machine = store.runs(), store.plan(), store.fingerprint()
        again = [run for _, run in store.numbered(replaced=True) if run.outcome == "interrupted"]
    assert {run.trial.id for run in runs} == {trial.id for trial in plan.trials}
    assert {run.trial.contender for run in again} == set(CONTENDERS)
    assert {run.rig.contender_host for run in again} == {other.address}
    assert_of_fleet(runs, hosts)
    assert {run.rig.contender_host for run in runs} == {one.address, other.address}, "what it had finished is kept"
    by_block: dict[int | None, set[str]] = {}
    for run in runs:
        by_block.setdefault(run.block, set()).add(run.rig.contender_host)
    assert len(by_block) == 4 and all(len(of_block) == 1 for of_block in by_block.values())
    assert set(machine.fleet) == {one.address, other.address}
    assert not left_on(one) and not left_on(other)
    logs = {path.name for path in (store.folder / "logs").iterdir()}
    assert {f"{run.trial.id}.contender.log" for run in runs} <= logs
    assert "of each host" in out
