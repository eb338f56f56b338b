"""How rates were measured, as every form of the report says it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from tests.analyse.fakes import FINGERPRINT, plan, run
from tests.analyse.turning import block_of
from tests.report.once import page
from webdyno.analyse import analyse
from webdyno.model.run import Run
from webdyno.report.json import render_json
from webdyno.report.markdown import render_markdown
from webdyno.report.sides import clause, sentence, sides_of
from webdyno.report.terminal import render_terminal

IN_TURNS = (
    "Rates and CPU times come from turns of 100 ms each, side by side, in blocks of up to 2 contenders. Latencies come "
    "from a window of 1.00 s that each contender then had to itself."
)


def in_turns() -> list[Run]:
    made: list[Run] = []
    for number in (1, 2, 3):
        made += block_of({"go": [100, 110, 120], "node": [50, 60, 70]}, block=number, round_=number)
    return made


def forms(runs: list[Run]) -> dict[str, str]:
    made = (plan(runs), FINGERPRINT, runs, analyse(plan(runs), FINGERPRINT, runs))
    out = Console(file=io.StringIO(), width=4000)
    render_terminal(*made, Path("results/x"), out)
    assert isinstance(out.file, io.StringIO)
    return {"html": page(made[:3]), "markdown": render_markdown(*made), "terminal": out.file.getvalue()}


@pytest.mark.parametrize("form", ["html", "markdown", "terminal"])
def test_each_form_says_once_that_rates_are_of_turns_and_latencies_of_a_window(form: str) -> None:
    assert forms(in_turns())[form].count(IN_TURNS) == 1


def test_who_was_measured_alone_beside_blocks_is_named() -> None:
    runs = [*in_turns(), *(run("bottle", round_=number) for number in (1, 2, 3))]
    sides = sides_of(runs)
    assert (sides.runs_in_turns, sides.runs_alone, sides.alone) == (6, 3, ["bottle"])
    assert sentence(sides).endswith("then had to itself. Measured alone: bottle.")
    assert clause(sides) == "side by side, up to 2 at a time, bottle alone"
    many = msgspec.structs.replace(sides, alone=["bottle", "go", "node"])
    assert clause(many) == "side by side, up to 2 at a time, 3 alone in some tables"


def test_where_nobody_took_turns_that_is_all_that_is_said() -> None:
    sides = sides_of([run("go"), run("node", outcome="died", slices=[])])
    assert sentence(sides) == "Each contender was measured alone."
    assert clause(sides) == "each contender alone"
    assert sentence(sides_of([run("go", outcome="died", slices=[])])) == ""


def test_turns_of_different_lengths_are_told_from_the_shortest_to_the_longest() -> None:
    slow = block_of({"a": [5, 5, 5]}, ms=320.0)
    fast = block_of({"b": [5, 5, 5]}, ms=52.0)
    assert "of 52.0 ms to 320 ms each" in sentence(sides_of([*slow, *fast]))


def test_as_data_it_is_counted() -> None:
    runs = in_turns()
    made = (plan(runs), FINGERPRINT, runs)
    told = json.loads(render_json(*made, analyse(*made)))["measured"]
    assert (told["runs_in_turns"], told["runs_alone"], told["most_at_a_time"]) == (6, 0, 2)
    assert told["shortest_turn_ns"] == told["longest_turn_ns"] == 100_000_000
