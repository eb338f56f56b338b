"""A study with claims, run in brief: what was said of two toys, held against what they do."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.live.conftest import Call

pytestmark = pytest.mark.live


def became(told: str, ruling: str, claim: str) -> bool:
    """Whether a claim was ruled so, or left open because others worked this machine meanwhile."""
    return f"{ruling}: {claim}" in told or f"cannot tell: {claim} the machine was not quiet" in told


def test_a_study_ends_with_what_became_of_its_claims(webdyno: Call) -> None:
    planned = webdyno("plan", "claims")
    assert planned.returncode == 0, planned.stderr
    assert "with --brief" in planned.stdout
    done = webdyno("run", "claims", "--brief", "--results", "there")
    assert done.returncode == 0, done.stderr
    flat = " ".join(done.stdout.split())
    assert became(flat, "holds", "odd-says-close serves one request per connection")
    assert "odd-says-close closes the connection after an answer and says so in its answer" in flat
    assert became(flat, "does not hold", "toy-good does, too")
    assert "cannot tell: With 64 cores everything is another matter" in flat
    assert "Requests served per second against connections: hello, keep-alive" in flat
    assert "original vs here: hello, 8 connections, keep-alive" in flat
    assert "fewer-cores, about everything" in flat


@pytest.mark.skipif(shutil.which("ab") is None, reason="needs ab (apache2-utils)")
def test_each_load_is_asked_by_its_own_driver_and_drivers_are_never_compared(webdyno: Call) -> None:
    done = webdyno("run", "claims", "--brief", "--rounds", "1", "--results", "there", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)["analysis"]
    tables = {(verdict["driver"], verdict["connections"]) for verdict in told["verdicts"]}
    assert tables == {("engine", 2), ("engine", 8), ("ab", 2)}
    assert {(curve["driver"], tuple(curve["connections"])) for curve in told["curves"]} == {
        ("engine", (2, 8)),
        ("ab", (2,)),
    }
    kept = [curve for curve in told["curves"] if (curve["driver"], curve["measure"]) == ("ab", "kept_alive")]
    shares = {row["contender"]: row["cells"][0]["value"] for row in kept[0]["rows"]}
    assert shares["odd-says-close"] == 0.0
