"""Runs that were measured in blocks, made up by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tests.analyse.fakes import START, run
from webdyno.model.block import Rest
from webdyno.model.run import Run
from webdyno.model.sample import Slice

MS = 1_000_000


def turn(number: int, *, ok: int, ms: float = 100.0, cpu_ms: float | None = None, **changes: Any) -> Slice:
    """A contender's turn in pass ``number``."""
    base = Slice(
        phase="turn",
        index=number,
        start_ns=START + round(number * 1000 * MS),
        duration_ns=round(ms * MS),
        offered=ok,
        ok=ok,
        errors={},
        turn=number,
        drained_ns=0,
        contender_cpu_ns=None if cpu_ms is None else round(cpu_ms * MS),
    )
    return msgspec.structs.replace(base, **changes)


def block_run(
    name: str,
    answers: Sequence[int],
    *,
    block: int = 1,
    round_: int = 1,
    ms: float = 100.0,
    cpu_ms: float | None = None,
    **changes: Any,
) -> Run:
    """A Run with so many answers in each of its turns, and the same rate in its steady window unless ``rate`` says
    another.
    """
    changes.setdefault("rate", sum(answers) / len(answers) / ms * 1e3)
    made = run(name, round_=round_, block=block, rest=Rest(time_ns=3_000 * MS, cpu_ns=0), **changes)
    turns = [turn(at, ok=ok, ms=ms, cpu_ms=cpu_ms) for at, ok in enumerate(answers)]
    warm = [each for each in made.slices if each.phase == "warmup"]
    steady = [each for each in made.slices if each.phase == "steady"]
    return msgspec.structs.replace(made, slices=[*warm, *turns, *steady])


def block_of(answers: Mapping[str, Sequence[int]], **changes: Any) -> list[Run]:
    """The Runs of one block."""
    return [
        block_run(name, given, beside=[other for other in answers if other != name], **changes)
        for name, given in answers.items()
    ]
