"""Linked: which tables are measured together because a claim compares them."""

from __future__ import annotations

from typing import Any

import pytest

from webdyno.design.linked import Table, groups
from webdyno.model.claim import Claim
from webdyno.model.load import Load


def table(connections: int, workload: str = "hello", driver: str = "engine", **load: Any) -> Table:
    return workload, Load(connections=connections, duration_s=2.0, **load), driver


def claim(**changes: Any) -> Claim:
    given = {"text": "as fast with more", "contenders": ["*"], "relation": "at least", "than_connections": 100}
    return Claim(**{**given, **changes})


def numbers(claims: list[Claim], *tables: Table) -> list[int]:
    return [*groups(claims, tables).values()]


def test_without_claims_every_table_is_by_itself() -> None:
    assert numbers([], table(100), table(1000)) == [0, 1]


def test_those_that_a_claim_compares_are_together() -> None:
    assert numbers([claim(connections=[1000])], table(100), table(500), table(1000)) == [0, 1, 0]


def test_a_claim_about_all_loads_links_all_of_them() -> None:
    assert numbers([claim()], table(100), table(500), table(1000)) == [0, 0, 0]


def test_claims_link_through_each_other() -> None:
    both = [claim(connections=[1000]), claim(connections=[9000], than_connections=1000)]
    assert numbers(both, table(100), table(1000), table(9000), table(50)) == [0, 0, 0, 3]


@pytest.mark.parametrize(
    "apart",
    [
        {"than_connections": None, "than": ["other"]},
        {"measure": "errors"},
        {"measure": "memory"},
        {"workload": "json"},
        {"driver": "wrk"},
        {"keep_alive": False},
        {"than_workload": "json"},
        {"than_connections": 200},
        {"connections": [500]},
    ],
)
def test_a_claim_about_something_else_links_nothing(apart: dict[str, Any]) -> None:
    assert numbers([claim(**apart)], table(100), table(1000)) == [0, 1]


def test_only_tables_of_one_workload_one_driver_and_one_way_of_asking_are_linked() -> None:
    others = [table(1000, workload="json"), table(1000, driver="wrk"), table(1000, keep_alive=False)]
    assert numbers([claim()], table(100), *others) == [0, 1, 2, 3]
