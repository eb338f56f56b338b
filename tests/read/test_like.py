"""A workload that is like another: its requests, who answers it, and what may not stand in its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.read.conftest import FILES
from tests.read.test_services import SERVICE
from webdyno.model.errors import CatalogueError
from webdyno.read import read_catalogue

LATER = """title = "Later"
kind = "db"
like = "plain"
delay_ms = 10
"""


@pytest.fixture
def later(folder: Path) -> Path:
    """The file of a workload that is like ``plain``, whose service can be made to answer later."""
    (folder / "services").mkdir()
    (folder / "services/store.toml").write_text(SERVICE.replace('kind = "program"', 'kind = "program"\ndelays = true'))
    plain = FILES["workloads/plain.toml"].replace('kind = "cpu"', 'kind = "db"\nservice = "store"')
    (folder / "workloads/plain.toml").write_text(plain)
    file = folder / "workloads" / "later.toml"
    file.write_text(LATER)
    return file


def test_it_asks_what_the_other_asks_and_is_answered_where_that_is(folder: Path, later: Path) -> None:
    known = read_catalogue([folder])
    plain, made = known.workloads["plain"], known.workloads["later"]
    assert (made.requests, made.service) == (plain.requests, "store")
    assert (plain.floor_ms, made.floor_ms) == (0, 10)
    assert known.apps["small"].answers == ["plain", "later"]


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('"plain"', '"plan"', ':3: like: there is no workload "plan"; did you mean "plain"?'),
        ('"plain"', '"later"', ':3: like: "later" is like another one itself; name that: "later"'),
        ("delay_ms = 10", 'delay_ms = 10\nservice = "store"', ':5: service: is that of "plain"; remove it'),
        ("delay_ms = 10", "", ': delay_ms: must be 1 or more, because with 0 it asks what "plain" asks'),
        ("= 10", "= -1", ":4: delay_ms: must be 0 or more, but is -1"),
    ],
)
def test_a_wrong_one_gets_one_sentence(folder: Path, later: Path, right: str, wrong: str, said: str) -> None:
    later.write_text(LATER.replace(right, wrong, 1))
    with pytest.raises(CatalogueError) as caught:
        read_catalogue([folder])
    assert str(caught.value) == f"{later}{said}"


def test_a_service_that_is_always_as_fast_cannot_be_asked_later(folder: Path, later: Path) -> None:
    (folder / "services/store.toml").write_text(SERVICE)
    with pytest.raises(CatalogueError) as caught:
        read_catalogue([folder])
    assert str(caught.value) == f"{later}:4: delay_ms: there is no way to delay the answers of store"
