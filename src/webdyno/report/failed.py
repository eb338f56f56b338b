"""Failed: what did not succeed, told once however often it happened."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from webdyno.analyse.words import count, listing
from webdyno.model.run import OUTCOMES, Run


class Failure(msgspec.Struct, frozen=True):
    """Like failures of one contender, told once: the same outcome and message in several rounds and tables."""

    contender: str
    outcome: str
    says: str
    message: str
    log_tail: str
    where: str


def failures(runs: Iterable[Run]) -> list[Failure]:
    """What did not succeed, grouped so that forty equal build failures are one line."""
    groups: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        if run.outcome not in ("ok", "interrupted"):
            groups.setdefault((run.trial.contender, run.outcome, run.message), []).append(run)
    return [
        Failure(
            contender=contender,
            outcome=outcome,
            says=OUTCOMES[group[0].outcome],
            message=message,
            log_tail=group[-1].log_tail,
            where=f"{listing(sorted({run.trial.workload for run in group}))}, {count(len(group), 'round')}",
        )
        for (contender, outcome, message), group in sorted(groups.items())
    ]
