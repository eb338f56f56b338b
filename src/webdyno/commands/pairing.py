"""Pairs: base and head one after the other, again and again in turned order, until what they differ by is known."""

from __future__ import annotations

import sys
import threading
import time

from webdyno.analyse.blocks import read_windows
from webdyno.analyse.change import LOOKS, judge_pairs
from webdyno.analyse.versus import BASE, HEAD
from webdyno.analyse.window import read_window
from webdyno.analyse.words import per_cent, rate
from webdyno.commands.sitting import Take
from webdyno.model.load import Load
from webdyno.model.run import Run


def order_of(pair: int) -> tuple[str, str]:
    """Sides in pair ``pair`` (from 1): A B, B A, A B ..., so that a drift favours nobody and neighbours are twins."""
    return (BASE, HEAD) if pair % 2 else (HEAD, BASE)


def make_pairs(
    take: Take,
    names: tuple[str, str],
    load: Load,
    margin: float,
    *,
    most: int,
    budget_s: float,
    interrupted: threading.Event,
) -> None:
    """Pairs until a look decides, one side fails, ``most`` are made, the time is up or the user stops it.

    ``names`` are the contenders that are base and head. A line on standard error for each pair; what was measured is
    in the results folder, and the verdict is made from there.
    """
    begun, longest_s = time.monotonic(), 0.0
    rates: dict[str, list[float]] = {BASE: [], HEAD: []}
    for pair in range(1, most + 1):
        before = time.monotonic()
        if pair > 1 and budget_s - (before - begun) < longest_s:
            print(f"the budget is spent after {pair - 1} pairs", file=sys.stderr)
            return
        runs = _pair(take, names, load, pair, interrupted)
        longest_s = max(longest_s, time.monotonic() - before)
        if runs is None:
            return
        for side, window in zip(runs, read_windows(runs.values()), strict=True):
            rates[side].append(window.rate_per_s)
        print(_line(pair, most, rates, time.monotonic() - begun), file=sys.stderr, flush=True)
        if pair in LOOKS and judge_pairs(rates[BASE], rates[HEAD], margin).verdict != "cannot tell":
            return


def _pair(
    take: Take, names: tuple[str, str], load: Load, pair: int, interrupted: threading.Event
) -> dict[str, Run] | None:
    """Both runs; None when one of them failed or was interrupted."""
    called = dict(zip((BASE, HEAD), names, strict=True))
    runs: dict[str, Run] = {}
    for side in order_of(pair):
        runs[side] = take(called[side], load, pair)
        if interrupted.is_set():
            return None
    for side, run in runs.items():
        if read_window(run) is None:
            print(f"{called[side]}: {run.outcome}: {run.message}", file=sys.stderr)
    return runs if all(read_window(run) is not None for run in runs.values()) else None


def _line(pair: int, most: int, rates: dict[str, list[float]], passed_s: float) -> str:
    base, head = rates[BASE][-1], rates[HEAD][-1]
    change = head / base - 1
    shown = f"{'-' if change < 0 else '+'}{per_cent(abs(change))}"
    return f"[{passed_s:4.0f} s] pair {pair} of at most {most}: base {rate(base)}, head {rate(head)}, {shown}"
