"""Head against base as people read it: one sentence, a table, the noise floor and the doubts; also as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from webdyno.analyse.change import Change
from webdyno.analyse.compare import slow_starts_allowed
from webdyno.analyse.versus import Outcome, Versus, outcome_of
from webdyno.analyse.words import MISSING, count, per_cent, rate
from webdyno.report.markdown import fence, plain_text
from webdyno.report.words import tail

TITLES = {
    "rate": "requests/s",
    "p50": "p50",
    "p99": "p99",
    "cpu_per_request": "CPU per request",
    "memory_peak": "peak memory",
}
_OTHER = {"slower": "faster", "faster": "slower"}
_MARKS: dict[Outcome, str] = {"better": "✅", "same": "✅", "worse": "❌", "cannot tell": "❔"}
_LOG_LINES = 12
_NOTHING = 5e-5
"""A change that is shown as none."""


def sentence(names: tuple[str, str], found: Versus) -> str:
    """``head is slower than base by 7.9 % (5.1 % to 10.6 %), after 6 pairs``."""
    base, head = names
    change = found.changes["rate"]
    if found.why and found.outcome == "worse":
        return f"{head} is worse than {base}: {found.why}"
    if found.why:
        return f"cannot tell whether {head} is faster or slower than {base}: {found.why}"
    return _by_rate(base, head, change, found)


def _by_rate(base: str, head: str, change: Change, found: Versus) -> str:
    after = f", after {count(found.pairs, 'pair')}" if found.pairs else ""
    shown = signed(change)
    if found.by == "cpu_per_request":
        costs = {"worse": "more", "better": "less"}[found.outcome]
        cpu = signed(found.changes["cpu_per_request"])
        return f"{head} needs {costs} CPU per request than {base}: {cpu}{after}; its rate is undecided: {shown}"
    match found.outcome:
        case "same":
            return f"{head} is as fast as {base} within {per_cent(change.margin)}: {shown}{after}"
        case "better":
            return f"{head} is faster than {base}: {shown}{after}"
        case "worse":
            return f"{head} is slower than {base}: {shown}{after}"
    return f"cannot tell whether {head} is slower than {base}: {shown}{after}"


def signed(change: Change) -> str:
    """``-7.9 % (-10.6 % to -5.1 %)``."""
    ratio = change.ratio
    if ratio is None:
        return "nothing measured"
    bounds = f" ({_part(ratio.low)} to {_part(ratio.high)})" if ratio.low is not None and ratio.high is not None else ""
    return f"{_part(ratio.value)}{bounds}"


def _part(ratio: float) -> str:
    change = 0.0 if abs(ratio - 1) < _NOTHING else ratio - 1
    return f"{'+' if change > 0 else '-' if change < 0 else ''}{per_cent(abs(change))}"


def versus_lines(names: tuple[str, str], found: Sequence[Versus], notes: Sequence[str]) -> Iterator[str]:
    """For a terminal or a log."""
    for each in found:
        yield sentence(names, each)
        yield f"  {_where(each)}"
        for figure, change in each.changes.items():
            if change.ratio is not None:
                yield f"  {TITLES[figure]:<16} {signed(change)}"
        yield from (f"  {line}" for line in _floor(each.changes["rate"]))
        for side, failed in (("base", each.base), ("head", each.head)):
            for line in failed.failed:
                yield f"  {side} failed: {line}"
            yield from (f"    | {line}" for line in tail(failed.log_tail, _LOG_LINES).splitlines())
        yield from (f"  doubt: {doubt}" for doubt in each.doubts)
    yield from notes


def versus_markdown(names: tuple[str, str], found: Sequence[Versus], notes: Sequence[str]) -> str:
    """For a pull request."""
    parts = [f"### {_MARKS[outcome_of(found)]} webdyno: {plain_text(f'{names[1]} against {names[0]}')}"]
    for each in found:
        parts += [f"**{plain_text(sentence(names, each))}**", plain_text(_where(each)), _table(each)]
        parts += [plain_text(line) for line in _floor(each.changes["rate"])]
        for side, failed in (("base", each.base), ("head", each.head)):
            parts += [plain_text(f"{side} failed: {line}") for line in failed.failed]
            if log := tail(failed.log_tail, _LOG_LINES):
                parts.append(fence(log))
        if each.doubts:
            parts.append("\n".join(f"- Doubt: {plain_text(doubt)}" for doubt in each.doubts))
    parts += [plain_text(note) for note in notes]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(each: Versus) -> str:
    rows = ["| figure | change (interval) |", "| :--- | ---: |"]
    rows += [f"| {TITLES[f]} | {plain_text(signed(c))} |" for f, c in each.changes.items() if c.ratio is not None]
    return "\n".join(rows)


def _where(each: Versus) -> str:
    return f"{each.where}: base {_rate(each, 'base')}, head {_rate(each, 'head')}"


def _rate(each: Versus, side: str) -> str:
    found = (each.base if side == "base" else each.head).rate
    return MISSING if found is None else rate(found.value)


def _floor(change: Change) -> Iterator[str]:
    if change.noise_floor is not None:
        floor = per_cent(change.noise_floor)
        yield f"noise floor {floor}: the most that two equal servers differ here, in 19 of 20 comparisons"
    if change.verdict == "same" and change.ratio is not None:
        starts = change.ratio.rounds
        allowed = per_cent(slow_starts_allowed(starts))
        yield f"{count(starts, 'start')} of each cannot rule out that up to {allowed} of starts are slower"
    if change.drawn_in:
        yield f"{count(change.drawn_in, 'pair')} were far from the others and got less weight"
    for far, said in ((change.slow_pairs, "slower"), (change.fast_pairs, "faster")):
        if far:
            yield f"in {count(far, 'pair')} head was far {said} than in the others, and in none far {_OTHER[said]}"
