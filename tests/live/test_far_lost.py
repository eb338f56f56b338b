"""Hosts of a cluster that are lost for good under a load: killed, or cut off."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime

import pytest

from tests.live.hosts import Made, hosts_joined, why_not
from tests.live.test_far import ENGINE, far, only_store, wait_until_at_work
from tests.live.test_fleet import left_on
from webdyno.model.run import Run
from webdyno.rig.far import LOST_S
from webdyno.rig.process import command_of

REASON = why_not()
pytestmark = [
    pytest.mark.live,
    pytest.mark.timeout(400),
    pytest.mark.skipif(REASON is not None, reason=str(REASON)),
    pytest.mark.xdist_group("far"),
]
AGAIN_S = 5.0
"""From when a host is known to be lost to the start of its trial with load from another."""


@pytest.fixture
def hosts() -> Iterator[list[Made]]:
    """Fresh ones for each test, for none of them is whole afterwards."""
    with hosts_joined(3) as made:
        yield made


def host_at_work(*hosts: Made) -> Made:
    """The one that loads, once its load is under way."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for host in hosts:
            for pid in host.pids():
                if ENGINE in " ".join(command_of(pid)):
                    wait_until_at_work(pid)
                    return host
        time.sleep(0.02)
    raise AssertionError("no host loads")


def all_runs(host: Made) -> list[Run]:
    with only_store(host) as store:
        return [run for _, run in store.numbered(replaced=True)]


def began_s(run: Run) -> float:
    return datetime.fromisoformat(run.started_at).timestamp()


def assert_done_again(runs: list[Run], lost: Made, other: Made) -> Run:
    """The one Run that lost its host is followed by one of the same Trial from the other host, and none else is."""
    assert [run.outcome for run in runs] == ["interrupted", "ok", "ok"], [run.message for run in runs]
    undone, again, _ = runs
    assert lost.address in undone.message and undone.rig.driver_host == lost.address
    assert undone.trial.id == again.trial.id and len({run.trial.id for run in runs}) == 2
    assert {run.rig.driver_host for run in runs[1:]} == {other.address}
    assert began_s(again) - (began_s(undone) + undone.seconds) < AGAIN_S
    return again


def test_a_load_host_that_is_killed_has_its_trial_done_again_with_load_from_another(hosts: list[Made]) -> None:
    head, *others = hosts
    with head.start(*far(head, "-d", "4s", "-r", "2")) as process:
        lost = host_at_work(*others)
        lost.kill()
        _, err = process.communicate(timeout=200)
    [other] = [host for host in others if host is not lost]
    assert process.returncode == 0 and "Traceback" not in err, err
    assert f"note: {lost.address} is lost: load comes from {other.address} from now on" in err
    assert_done_again(all_runs(head), lost, other)
    assert not left_on(head) and not left_on(other)


def test_a_load_host_that_is_cut_off_for_good_is_replaced_once_it_has_not_answered(hosts: list[Made]) -> None:
    head, *others = hosts
    with head.start(*far(head, "-d", "4s", "-r", "2")) as process:
        lost, cut_s = host_at_work(*others), time.time()
        lost.cut()
        _, err = process.communicate(timeout=200)
    [other] = [host for host in others if host is not lost]
    assert process.returncode == 0 and "Traceback" not in err, err
    again = assert_done_again(all_runs(head), lost, other)
    assert began_s(again) - cut_s < LOST_S + AGAIN_S + 2.0, "a call may have begun a moment after the cut"
    assert not left_on(lost), "its own agent has ended the load"
    assert not left_on(head) and not left_on(other)
