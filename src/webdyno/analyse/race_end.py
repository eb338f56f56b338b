"""How a race ended, and what it decided, as one sentence."""

from __future__ import annotations

import math
from collections import defaultdict

from webdyno.analyse import words
from webdyno.analyse.replay import Key, key_of, replay
from webdyno.analyse.table import Evidence

_ENDS: dict[str | None, str] = {
    "settled": "Settled after {rounds}",
    "rounds": "Ended after {rounds}, the maximum for this race",
    "budget": "Ended after {rounds}, when its budget was spent",
    "runs": "Ended after {rounds}, when its runs were used up",
    None: "Stopped in round {begun}, before its end",
}


def race_end(evidence: Evidence) -> str:
    """Empty for what is no race, or has no Run. The Runs alone say so: of one that was killed too."""
    plan, runs = evidence.plan, evidence.runs
    if plan.race is None or not runs:
        return ""
    at = replay(plan, runs, evidence.fingerprint.ceilings)
    tables: defaultdict[Key, set[str]] = defaultdict(set)
    for trial in plan.trials:
        tables[key_of(trial)].add(trial.contender)
    pairs = sum(math.comb(len(names), 2) for names in tables.values())
    known = sum(len(heat.told) for heat in at.heats.values())
    ended = _ENDS[at.end].format(rounds=words.count(at.rounds, "round"), begun=max(run.trial.round for run in runs))
    return f"{ended}; the order of {known} of {words.count(pairs, 'pair')} is decided"
