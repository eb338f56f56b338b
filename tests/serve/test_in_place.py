"""One start for the rounds of a cell: when a server is kept, and when it is ended."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.analyse import fakes
from webdyno.serve.in_place import InPlace

HERE: Any = None


class World:
    """Starts and ends, as they happen."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.dead = False

    @contextlib.contextmanager
    def serve(self, contender: Any, *_: object) -> Iterator[Any]:
        self.said.append(f"start {contender.name}")
        group = SimpleNamespace(has_ended=lambda: self.dead)
        try:
            yield SimpleNamespace(name=contender.name, group=group, notes=["slow"], reused=False, sound=False)
        finally:
            self.dead = False
            self.said.append(f"end {contender.name}")


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    made = World()
    monkeypatch.setattr("webdyno.serve.in_place.serve", made.serve)
    return made


def load(in_place: InPlace, world: World, name: str, *, more: bool, sound: bool = True) -> Any:
    in_place.more = more
    contender, work = fakes.contender(name), fakes.workload()
    with in_place.serve(contender, work, HERE, HERE, Path(), {}) as served:
        world.said.append(f"load {served.name}")
        served.sound = sound
        return served.reused, list(served.notes)


def test_the_rounds_of_a_cell_share_a_start(world: World) -> None:
    with InPlace() as in_place:
        assert load(in_place, world, "a", more=True) == (False, ["slow"])
        assert load(in_place, world, "a", more=True) == (True, [])
        assert load(in_place, world, "a", more=False) == (True, [])
        assert load(in_place, world, "b", more=True) == (False, ["slow"])
        assert world.said == ["start a", "load a", "load a", "load a", "end a", "start b", "load b"]
    assert world.said[-1] == "end b"


def test_after_a_round_that_failed_the_server_is_a_new_one(world: World) -> None:
    with InPlace() as in_place:
        load(in_place, world, "a", more=True, sound=False)
        assert load(in_place, world, "a", more=False) == (False, ["slow"])
    assert world.said == ["start a", "load a", "end a", "start a", "load a", "end a"]


def test_a_server_that_died_between_rounds_or_is_of_another_cell_is_not_kept(world: World) -> None:
    with InPlace() as in_place:
        load(in_place, world, "a", more=True)
        world.dead = True
        assert load(in_place, world, "a", more=True)[0] is False
        assert load(in_place, world, "b", more=False)[0] is False
    assert world.said == ["start a", "load a", "end a", "start a", "load a", "end a", "start b", "load b", "end b"]


def test_what_is_raised_under_load_ends_it(world: World) -> None:
    with InPlace() as in_place:
        in_place.more = True
        with (
            pytest.raises(KeyError),
            in_place.serve(fakes.contender("a"), fakes.workload(), HERE, HERE, Path(), {}),
        ):
            raise KeyError
        assert world.said == ["start a", "end a"]
