"""A study on two hosts, through Ray: the hosts are network namespaces of the test's own, with a cable between."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.hosts import Made, open_host, two_hosts, why_not
from webdyno.model.run import Run
from webdyno.rig.process import read_stat
from webdyno.store import Store

REASON = why_not()
pytestmark = [
    pytest.mark.live,
    pytest.mark.timeout(300),
    pytest.mark.skipif(REASON is not None, reason=str(REASON)),
    pytest.mark.xdist_group("far"),
]
WEBDYNO = (sys.executable, "-m", "webdyno")
STUDY = ("run", "quickstart", "-k", "wsgiref", "-w", "hello", "-c", "4")
ENGINE = "webdyno-engine"


@pytest.fixture(scope="module")
def hosts() -> Iterator[tuple[Made, Made]]:
    with two_hosts() as made:
        yield made


def far(host: Made, *more: str) -> tuple[str, ...]:
    return (*WEBDYNO, *STUDY, *more, "--far", f"{host.address}:6379")


def only_store(host: Made) -> Store:
    [folder] = (host.folder / "results").iterdir()
    return Store.open(folder)


def engine_in(host: Made) -> int:
    """The pid of an engine that loads from there, once it does."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for pid in host.pids():
            if ENGINE in _read(pid, "cmdline"):
                return pid
        time.sleep(0.02)
    raise AssertionError("no engine was started there")


def wait_until_at_work(pid: int) -> None:
    """Until it has used CPU for a fifth of a second: a load is under way then."""
    deadline = time.monotonic() + 60
    while (stat := read_stat(pid)) is not None and stat.user_ticks + stat.system_ticks < 20:
        assert time.monotonic() < deadline, "the engine is not at work"
        time.sleep(0.02)


def _read(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text(errors="replace")
    except OSError:
        return ""


def test_a_study_runs_with_its_load_from_the_other_host(hosts: tuple[Made, Made]) -> None:
    head, other = hosts
    with head.start(*far(head, "-d", "1s", "-r", "1"), MY_TOKEN="hunter2") as process:
        engine = engine_in(other)
        theirs = [_read(pid, "environ") for pid in other.pids()]
        allowed = os.sched_getaffinity(engine)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "another machine" in out
    assert any(theirs) and not any("hunter2" in each for each in theirs)
    assert allowed == {other.core}
    with only_store(head) as store:
        [run], machine = store.runs(), store.fingerprint()
    assert_of_two_hosts(run, head, other)
    assert machine.driver is not None and machine.driver.cores_usable == 1
    assert not any(ENGINE in _read(pid, "cmdline") for pid in other.pids())


def assert_of_two_hosts(run: Run, head: Made, other: Made) -> None:
    assert run.outcome == "ok", run.message
    assert head.address in run.command and "127.0.0.1" not in run.command
    assert run.rig.driver_host == other.address and not run.rig.shares_cores
    assert run.rig.carrier.startswith("Ray ") and run.rig.carrier_confined
    looks = {role: [each for each in run.readings if each.role == role] for role in ("driver", "carrier")}
    assert any(each.processes for each in looks["driver"]) and any(each.cpu_user_ns for each in looks["carrier"])
    first, last = run.readings[0].at_ns, run.readings[-1].at_ns
    assert run.steady_start_ns is not None and first < run.steady_start_ns < last


def test_all_hosts_are_looked_at(hosts: tuple[Made, Made]) -> None:
    head, other = hosts
    done = head.run(*WEBDYNO, "doctor", "--far", f"{head.address}:6379")
    assert done.returncode == 0, done.stderr
    assert head.address in done.stdout and other.address in done.stdout
    assert "bandwidth" in done.stdout and "clock" in done.stdout


def test_other_versions_are_refused_before_anything_starts(hosts: tuple[Made, Made]) -> None:
    head, _ = hosts
    code = "import sys, ray; ray.__version__ = '2.0.0'; from webdyno.commands import main; main()"
    done = head.run(sys.executable, "-c", code, *far(head)[3:])
    assert done.returncode == 2 and done.stdout == ""
    assert "install the same on every host" in done.stderr and "Traceback" not in done.stderr
    assert "Ray 2.0.0" in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_wrong_token_is_said_in_one_sentence(hosts: tuple[Made, Made]) -> None:
    head, _ = hosts
    done = head.run(*far(head), RAY_AUTH_TOKEN="0" * 32)
    assert done.returncode == 3 and "rejects this token" in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_cluster_that_asks_nobody_for_a_token_is_refused() -> None:
    with open_host() as host:
        done = host.run(*far(host))
        assert done.returncode == 2 and "--insecure-cluster" in done.stderr
        assert len(done.stderr.splitlines()) == 1
        done = host.run(*far(host), "--insecure-cluster")
        assert done.returncode == 3 and "no second host" in done.stderr


def test_where_no_other_host_can_make_the_load_of_one_that_is_killed_the_sentence_says_how_to_go_on(
    hosts: tuple[Made, Made],
) -> None:
    head, other = hosts
    for folder in (head.folder / "results").glob("*"):
        folder.rename(head.folder / f"before-{folder.name}")
    with head.start(*far(head, "-d", "5s", "-r", "2")) as process:
        wait_until_at_work(engine_in(other))
        other.kill()
        _, err = process.communicate(timeout=120)
    assert process.returncode == 3 and "Traceback" not in err, err
    with only_store(head) as store:
        [run], done = store.runs(), store.done()
    assert run.outcome == "interrupted" and other.address in run.message and not done
    [said] = [line for line in err.splitlines() if line.startswith("webdyno: ")]
    assert said.startswith("webdyno: the cluster has no other host for the load; continue with --resume ")
    assert said.endswith(store.folder.name)
