"""Complaints about loads of pairs and claims about a route: file, line, key, and what would be right."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.fakes import catalogue
from tests.read.test_check_study import CLAIM, study
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import CatalogueError
from webdyno.model.workload import Request
from webdyno.read import read_study

PAIRS = """
[[loads]]
workloads = ["json"]
connections = [2]
pair_every_s = 1.5
pair_apart_s = 0.05
duration_s = 6
warmup_s = 0
"""
ROUTE = CLAIM + 'workload = "json"\nroute = "slow"\nmeasure = "p50"\n'


def with_two_routes(slow: int = 1) -> Catalogue:
    known = catalogue("go", "node")
    both = [Request(name="fast", path="/"), Request(name="slow", path="/slow", weight=slow)]
    made = msgspec.structs.replace(known.workloads["json"], requests=both)
    return msgspec.structs.replace(known, workloads={**known.workloads, "json": made})


def test_a_load_of_pairs_is_read(tmp_path: Path) -> None:
    read = read_study(study(tmp_path, PAIRS + ROUTE), with_two_routes())
    assert (read.loads[1].pair_every_s, read.loads[1].pair_apart_s) == (1.5, 0.05)
    assert read.claims[0].route == "slow"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("pair_apart_s = 0.05\n", "", "pair_every_s and pair_apart_s need each other"),
        (
            "pair_apart_s = 0.05",
            "pair_apart_s = 1.5",
            "must be above 0 and below pair_every_s, which is 1.5, but is 1.5",
        ),
        ("warmup_s = 0\n", "", "warmup_s: must be 0 with pairs"),
        ("duration_s = 6", "duration_s = 1", "needs a duration_s with room for at least one pair"),
        ("duration_s = 6", "count = 6", "needs a duration_s with room for at least one pair"),
        ("warmup_s = 0", "warmup_s = 0\nrate_per_s = [4]", "is a schedule of its own; remove it, or rate_per_s"),
        ('workloads = ["json"]', 'workloads = ["hello"]', 'asks pairs of "hello", which has 1 request(s)'),
        ('route = "slow"', 'route = "slwo"', 'there is no request of json "slwo"; did you mean "slow"?'),
        ('measure = "p50"', 'measure = "rate"', "has times alone; measure must be one of p50,"),
        ('workload = "json"', 'workload = "hello"', 'there is no request of hello "slow"'),
    ],
)
def test_faults_of_pairs_and_routes_are_said(tmp_path: Path, before: str, after: str, said: str) -> None:
    with pytest.raises(CatalogueError) as told:
        read_study(study(tmp_path, (PAIRS + ROUTE).replace(before, after)), with_two_routes())
    assert said in str(told.value)


def test_a_pair_is_two_requests_of_the_same_weight(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match="each of weight 1"):
        read_study(study(tmp_path, PAIRS), with_two_routes(slow=9))
