"""A study on two hosts that are not well: a network that loses packets, and a load host whose core is never free."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.live.hosts import Made, hosts_joined, why_not
from tests.live.test_far import assert_of_two_hosts, far, only_store

REASON = why_not()
pytestmark = [
    pytest.mark.live,
    pytest.mark.timeout(300),
    pytest.mark.skipif(REASON is not None, reason=str(REASON)),
    pytest.mark.xdist_group("far"),
]
IMPATIENT: dict[str, Any] = {
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "1000",
    "RAY_health_check_failure_threshold": "3",
}
"""A head that declares a node dead within 6 s, so that no test has to wait for a minute."""
PATIENCE_S = 6.0


@pytest.fixture(scope="module")
def hosts() -> Iterator[list[Made]]:
    with hosts_joined(2, **IMPATIENT) as made:
        yield made


@pytest.fixture(autouse=True)
def fresh(hosts: list[Made]) -> Iterator[None]:
    """Without the results of the test before."""
    yield
    results = hosts[0].folder / "results"
    if results.exists():
        results.rename(hosts[0].folder / f"before-{time.monotonic_ns()}")


def assert_measured(hosts: list[Made]) -> None:
    head, other = hosts
    done = head.run(*far(head, "-d", "3s", "-r", "2"))
    assert done.returncode == 0 and "is lost" not in done.stderr, done.stderr
    with only_store(head) as store:
        runs = [run for _, run in store.numbered(replaced=True)]
    assert len(runs) == 2
    for run in runs:
        assert_of_two_hosts(run, head, other)


def test_a_network_that_loses_one_packet_in_twenty_costs_no_trial(hosts: list[Made]) -> None:
    for host in hosts:
        if (reason := host.disturb("loss", "5%")) is not None:
            pytest.skip(f"no network can be disturbed here: {reason}")
    try:
        assert_measured(hosts)
    finally:
        for host in hosts:
            host.disturb("loss", "0%")


def test_a_host_whose_core_is_never_free_stays_in_the_cluster(hosts: list[Made]) -> None:
    with contextlib.ExitStack() as ending:
        for _ in range(2):
            burner = ending.enter_context(hosts[1].start(sys.executable, "-c", "while True: pass"))
            ending.callback(burner.kill)
        time.sleep(2 * PATIENCE_S)
        assert_measured(hosts)
