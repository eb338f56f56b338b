"""Two requests in a given order, as a study asks them: one that blocks holds up what comes after, and no other does."""

from __future__ import annotations

import json

import pytest

from tests.live.conftest import Call

pytestmark = pytest.mark.live


@pytest.mark.parametrize(
    ("workload", "first", "then", "waits"),
    [
        ("blocking-then-instant", "blocking", "instant", True),
        ("async-then-instant", "async", "instant", False),
        ("instant-then-blocking", "instant", "blocking", False),
    ],
)
def test_the_order_decides_who_waits(workload: str, first: str, then: str, waits: bool, webdyno: Call) -> None:
    flags = ["-k", "tornado-as-2015", "-w", workload, "-d", "3s", "--rounds", "1"]
    done = webdyno("run", "blocking", "--brief", *flags, "--results", "there", "--json", timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    (verdict,) = json.loads(done.stdout)["analysis"]["verdicts"]
    assert verdict["pair_apart_s"] == 0.05
    both = verdict["standings"][0]["routes"]
    assert [(route["route"], route["share"]) for route in both] == [(first, 0.5), (then, 0.5)]
    took_ns = {route["route"]: route["p50"]["value"] for route in both}
    slow = "blocking" if "blocking" in took_ns else "async"
    assert took_ns[slow] > 1e9
    # it is sent 50 ms later, and the machine of a test may be slow
    assert (took_ns["instant"] > 0.7e9) == waits
