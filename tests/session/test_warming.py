"""Warm-ups learnt before a comparison: only where something compiles, once per side, and the same for both."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from tests.analyse import fakes
from webdyno.conduct import Bench
from webdyno.model.built import Built
from webdyno.model.errors import StartError
from webdyno.model.load import Load
from webdyno.model.run import Run
from webdyno.model.trial import Trial
from webdyno.session import loop, warming
from webdyno.session.ready import Ready
from webdyno.session.warming import warmed

LOAD = Load(connections=64, duration_s=2.0)
SLOW, FAST = 2_000.0, 10_000.0


@dataclass
class Sides:
    """What is seen of each contender: its rates second by second, and what compiles in it."""

    rates: dict[str, Sequence[float]]
    compilers: dict[str, list[str]]
    fails: set[str] = field(default_factory=set)
    loaded: list[Trial] = field(default_factory=list)

    @contextmanager
    def serve(self, contender: Any, *_: object) -> Iterator[Any]:
        if contender.name in self.fails:
            raise StartError("it ended before it served", exited=True)
        yield SimpleNamespace(compilers=lambda: self.compilers.get(contender.name, []))

    def conduct(self, trial: Trial, bench: Bench, built: Built) -> Run:
        self.loaded.append(trial)
        return fakes.run(trial.contender, slices=fakes.slices(self.rates[trial.contender]))


def settling(after_s: int) -> list[float]:
    return [SLOW] * after_s + [FAST] * (20 - after_s)


def learnt(
    sides: Sides, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, stated_s: float | None = None
) -> dict[str, float | None]:
    """The warm-ups of base and head afterwards."""
    made = fakes.plan([fakes.run("base"), fakes.run("head")])
    head = msgspec.structs.replace(made.contenders["head"], warmup_s=stated_s)
    made = msgspec.structs.replace(made, contenders={**made.contenders, "head": head})
    built = {
        name: Built(contender=name, key="k", directory="/", environment={}, versions={}, log="", seconds=0.0)
        for name in made.contenders
    }
    ready = Ready(plan=made, built=built, found={}, servers={}, drivers={"engine": "1"})
    driver = SimpleNamespace(version=lambda _: "1", can=fakes.run().driver_can)
    monkeypatch.setattr(loop, "DRIVERS", {"engine": lambda: driver})
    monkeypatch.setattr(warming, "serve", sides.serve)
    monkeypatch.setattr(loop, "conduct", sides.conduct)
    strapped: Any = SimpleNamespace(
        lost="",
        replace_lost=lambda _: [],
        daemons=None,
        folder=lambda: tmp_path,
        drop=lambda _: None,
        interrupted=threading.Event(),
    )
    found = warmed(ready, LOAD, 20.0, strapped)
    return {name: it.warmup_s for name, it in found.plan.contenders.items()}


def test_both_sides_are_given_what_the_slower_one_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    v8 = {"base": ["V8"], "head": ["V8"]}
    sides = Sides({"base": settling(3), "head": settling(6)}, v8)
    given = learnt(sides, tmp_path, monkeypatch)
    assert given["base"] == given["head"] == pytest.approx(7, abs=1)
    assert [(trial.contender, trial.asked.duration_s, trial.asked.warmup_s) for trial in sides.loaded] == [
        ("base", 20.0, 0.0),
        ("head", 20.0, 0.0),
    ]
    said = capsys.readouterr().err
    assert "base: V8 compiles in it while it serves; 20 s of load, to see for how long" in said
    assert f"each start of base and head is given {given['base']:g} s to warm up" in said


def test_where_nothing_compiles_nothing_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sides = Sides({}, {})
    assert learnt(sides, tmp_path, monkeypatch) == {"base": None, "head": None}
    assert sides.loaded == []


def test_what_a_file_states_is_not_learnt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sides = Sides({"base": settling(3)}, {"base": ["V8"], "head": ["V8"]})
    given = learnt(sides, tmp_path, monkeypatch, stated_s=2.0)
    assert given == {"base": pytest.approx(4, abs=1), "head": 2.0}


def test_what_never_settles_is_given_all_that_was_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ever_faster = [1_000.0 * 1.2**second for second in range(20)]
    sides = Sides({"base": settling(3), "head": ever_faster}, {"base": ["V8"], "head": ["V8"]})
    assert learnt(sides, tmp_path, monkeypatch) == {"base": 20.0, "head": 20.0}


def test_a_side_that_does_not_start_is_left_to_its_first_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sides = Sides({"base": settling(3)}, {"base": ["V8"], "head": ["V8"]}, fails={"head"})
    assert learnt(sides, tmp_path, monkeypatch) == {"base": pytest.approx(4, abs=1), "head": None}
