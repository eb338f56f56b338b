"""Re-run: the same study twice in a row. Does it say the same?"""

from __future__ import annotations

from pathlib import Path

from bench.table import table
from bench.trust.studies import Recorded, record
from webdyno.analyse import analyse
from webdyno.model.verdict import Verdict


def run(folder: Path, study: str, flags: list[str]) -> list[str]:
    """The table. Takes twice the study, whose Runs stay in ``folder``."""
    first = record(study, folder / "first", *flags)
    return report(first, record(study, folder / "second", *flags))


def report(first: Recorded, second: Recorded) -> list[str]:
    """Kendall's tau over the order of rates, the top groups, and claims that contradict each other, by table."""
    rows = []
    for one, other in zip(analyse(*first).verdicts, analyse(*second).verdicts, strict=True):
        tau, swapped = agreement(one, other)
        same = set(one.winners) == set(other.winners)
        rows.append([f"{one.workload}, {one.load}", f"{tau:.3f}", "same" if same else "differs", str(swapped)])
    return table(["table", "Kendall tau", "top group", "claims that contradict each other"], rows)


def agreement(one: Verdict, other: Verdict) -> tuple[float, int]:
    """Tau (Kendall 1938; nan with less than two in common), and pairs told apart in both the other way round."""
    from scipy.stats import kendalltau

    mine = {s.contender: s for s in one.standings if s.place is not None}
    theirs = {s.contender: s for s in other.standings if s.place is not None}
    both = [name for name in mine if name in theirs]
    if len(both) < 2:
        return float("nan"), 0
    tau = kendalltau([mine[name].place for name in both], [theirs[name].place for name in both]).statistic
    swapped = 0
    for at, a in enumerate(both):
        for b in both[at + 1 :]:
            told = all(not set(by[a].letters) & set(by[b].letters) for by in (mine, theirs))
            swapped += told and (theirs[a].place or 0) > (theirs[b].place or 0)
    return float(tau), swapped
