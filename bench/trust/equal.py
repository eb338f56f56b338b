"""A/A: one contender under two names. A difference found is a mistake."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bench.table import table
from bench.trust.studies import Recorded, drawn, experiments, record, twin, within, write_study
from webdyno.analyse import analyse
from webdyno.analyse.doubts.machine import STEAL, steal_cores
from webdyno.analyse.estimate import fit
from webdyno.analyse.table import Evidence, tables
from webdyno.analyse.window import Window
from webdyno.model.estimate import Estimate

GOAL = 0.05
MINUTE_S, FIVE_MINUTES_S = 60.0, 300.0
MUCH_STEAL = 0.10
DRAWN = 400


def run(folder: Path, contender: str, repeats: int, rounds: int, seconds: float, *, alone: bool = False) -> list[str]:
    """The table. Takes ``repeats * rounds * 2`` Runs, which stay in ``folder``."""
    study = write_study(folder, [contender, twin(folder, contender)], repeats * rounds, seconds)
    flags = ["--exhaustive", "--catalogue", str(folder), *["--alone"] * alone]
    return read_report(record(str(study), folder / "results", *flags), rounds)


def read_report(recorded: Recorded, rounds: int, draws: int = DRAWN) -> list[str]:
    """The table of what ``run`` recorded."""
    return report(recorded, sorted(recorded.plan.contenders), rounds, draws)


def report(recorded: Recorded, pair: Sequence[str], rounds: int, draws: int = DRAWN) -> list[str]:
    """What the experiments found."""
    each = list(experiments(recorded, rounds))
    ranked = [one for one in each if ranks_two(one)]
    different = sum(told_apart(one) for one in ranked)
    widths = [width for one in each if (width := half_width(ratio(one, pair))) is not None]
    again = [(told_apart(one), is_calm(one)) for one in drawn(recorded, rounds, draws) if ranks_two(one)]
    calm = [told for told, is_quiet in again if is_quiet]
    left = len(each) - len(ranked)
    rows = [
        ["experiments of two equals", str(len(ranked)), ""],
        ["left out, for they ranked less than two", str(left), "0"],
        ["called different", _share(different, len(ranked)), f"at most {GOAL:.0%}"],
        [f"{rounds} rounds drawn from all, {draws} times: ranked", str(len(again)), ""],
        ["of these called different", _share(sum(told for told, _ in again), len(again)), f"at most {GOAL:.0%}"],
        ["of these, no Run lost 10 % to the hypervisor and less than half 1 %", str(len(calm)), ""],
        ["of those called different", _share(sum(calm), len(calm)), f"at most {GOAL:.0%}"],
        ["half-width of the ratio, middle", _percent(statistics.median(widths) if widths else None), ""],
        ["half-width after 1 minute of machine time", _percent(_of_minutes(recorded, pair)), "at most 2.5 %"],
        ["half-width after 5 minutes", _percent(half_width(ratio(after(recorded, FIVE_MINUTES_S), pair))), ""],
    ]
    return table(["A/A", "found", "goal"], rows)


def ranks_two(one: Recorded) -> bool:
    """Whether both have a place in some table: what a doubt voids cannot be called different."""
    return any(sum(bool(a.letters) for a in verdict.standings) > 1 for verdict in analyse(*one).verdicts)


def is_calm(one: Recorded) -> bool:
    """By the rule that voided a table until 2026-11-22: 10 % of the machine stolen in a Run, or 1 % in half of them."""
    lost = [
        (steal_cores(window) or 0.0) / table.host_cores for table in tables(Evidence(*one)) for window in table.windows
    ]
    return max(lost, default=0.0) < MUCH_STEAL and sum(share >= STEAL for share in lost) < len(lost) / 2


def told_apart(one: Recorded) -> bool:
    """Whether the report claims a difference in any table."""
    return any(
        not set(a.letters) & set(b.letters)
        for verdict in analyse(*one).verdicts
        for a in verdict.standings
        for b in verdict.standings
        if a.letters and b.letters
    )


def ratio(one: Recorded, pair: Sequence[str]) -> Estimate | None:
    """Of rates, first by second, of the first table; None when either has none."""
    return figure_ratio(one, pair, lambda window: window.rate_per_s)


def figure_ratio(one: Recorded, pair: Sequence[str], figure: Callable[[Window], float | None]) -> Estimate | None:
    """The same of another figure."""
    found = tables(Evidence(*one))
    made = fit(found[0].figures(figure)) if found else None
    return made.ratio(pair[0], pair[1]) if made is not None and set(pair) <= set(made.names) else None


def after(recorded: Recorded, seconds: float) -> Recorded:
    """The whole rounds that fit into so much time; two at least."""
    spent, last = 0.0, 0
    for round_ in range(1, recorded.plan.rounds + 1):
        spent += sum(run.seconds for run in recorded.runs if run.trial.round == round_)
        if spent > seconds and round_ > 2:
            break
        last = round_
    return within(recorded, 1, last)


def minutes(recorded: Recorded) -> Iterator[Recorded]:
    """The whole rounds of each minute of machine time."""
    first, spent_s = 1, 0.0
    for round_ in range(1, recorded.plan.rounds + 1):
        spent_s += sum(run.seconds for run in recorded.runs if run.trial.round == round_)
        if spent_s >= MINUTE_S:
            yield within(recorded, first, round_)
            first, spent_s = round_ + 1, 0.0


def _of_minutes(recorded: Recorded, pair: Sequence[str]) -> float | None:
    """The middle one of theirs."""
    widths = [width for one in minutes(recorded) if (width := half_width(ratio(one, pair))) is not None]
    return statistics.median(widths) if widths else None


def half_width(estimate: Estimate | None) -> float | None:
    """As a share of the value."""
    if estimate is None or estimate.low is None or estimate.high is None:
        return None
    return (estimate.high - estimate.low) / 2 / estimate.value


def _share(part: int, of: int) -> str:
    return f"{part} ({part / of:.1%})" if of else "-"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.2%}"
