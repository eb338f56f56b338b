"""Sides: how the Runs of a report were measured, side by side in turns or alone; said once in each form."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import msgspec

from webdyno.analyse.words import count, listing, time_ns
from webdyno.model.run import Run
from webdyno.model.sample import Phase

NAMED = 2
"""Contenders that a fact of a page names; its doubts and its sentence name all."""


class Sides(msgspec.Struct, frozen=True, kw_only=True):
    """See above; of the Runs that succeeded."""

    runs_in_turns: int
    runs_alone: int
    most_at_a_time: int
    """Contenders of a block."""
    shortest_turn_ns: float | None
    """Of the turns that are usual for a Run."""
    longest_turn_ns: float | None
    window_ns: float | None
    """Usual length of what each had to itself after its turns."""
    alone: list[str]
    """Contenders that were measured alone, in some Runs at least, where others took turns."""


def sides_of(runs: Sequence[Run]) -> Sides:
    """What is known of it."""
    good = [run for run in runs if run.outcome == "ok"]
    together = [run for run in good if run.block is not None]
    turns = [length for run in together if (length := _usual_ns(run, "turn")) is not None]
    windows = [length for run in together if (length := _usual_ns(run, "steady")) is not None]
    return Sides(
        runs_in_turns=len(together),
        runs_alone=len(good) - len(together),
        most_at_a_time=max((len(run.beside) + 1 for run in together), default=1),
        shortest_turn_ns=min(turns, default=None),
        longest_turn_ns=max(turns, default=None),
        window_ns=median(windows) if windows else None,
        alone=sorted({run.trial.contender for run in good if run.block is None}) if together else [],
    )


def _usual_ns(run: Run, phase: str) -> float | None:
    lengths = [slice_.duration_ns for slice_ in run.slices if slice_.phase == phase]
    return median(lengths) if lengths else None


def clause(sides: Sides) -> str:
    """``side by side, up to 5 at a time``, for the facts of a page."""
    if not sides.runs_in_turns:
        return "each contender alone" if sides.runs_alone else ""
    named = f"{listing(sides.alone)} alone" if len(sides.alone) <= NAMED else f"{len(sides.alone)} alone in some tables"
    some = f", {named}" if sides.alone else ""
    return f"side by side, up to {sides.most_at_a_time} at a time{some}"


def sentence(sides: Sides) -> str:
    """How rates were measured, and of what the latencies are; empty where no Run succeeded."""
    if not sides.runs_in_turns:
        return "Each contender was measured alone." if sides.runs_alone else ""
    turns = f" of {_span(sides)} each" if sides.shortest_turn_ns is not None else ""
    of = f"side by side, in blocks of up to {count(sides.most_at_a_time, 'contender')}"
    window = "" if sides.window_ns is None else f" of {time_ns(sides.window_ns)}"
    some = f" Measured alone: {listing(sides.alone)}." if sides.alone else ""
    how = f"Rates and CPU times come from turns{turns}, {of}."
    return f"{how} Latencies come from a window{window} that each contender then had to itself.{some}"


def _span(sides: Sides) -> str:
    first, last = time_ns(sides.shortest_turn_ns or 0.0), time_ns(sides.longest_turn_ns or 0.0)
    return first if first == last else f"{first} to {last}"


def stage(phase: Phase, turn: int | None, passes: int | None) -> str:
    """Where a block is: ``warm-up``, ``pass 3 of 11``, ``window for latency``."""
    if phase == "turn" and turn is not None:
        return f"pass {turn + 1}" + (f" of {passes}" if passes else "")
    return "warm-up" if phase == "warmup" else "window for latency"
