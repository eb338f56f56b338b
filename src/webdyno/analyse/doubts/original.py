"""Doubts about the likeness of this machine to that of the article a study comes from."""

from __future__ import annotations

from webdyno.analyse import words
from webdyno.analyse.table import Evidence
from webdyno.model.doubt import Doubt

FEWER_CORES_ADVICE = "compare ratios within one worker model, or run the study on a machine with more cores"


def fewer_cores(evidence: Evidence) -> Doubt | None:
    """The article's servers had more cores: rules over cores give fewer workers here, and no server gains from more
    cores.
    """
    original = evidence.plan.original
    if original is None or original.cores is None or not evidence.runs:
        return None
    here = max(len(run.rig.contender_cores) for run in evidence.runs)
    if here >= original.cores:
        return None
    return Doubt(
        kind="fewer-cores",
        severity="shades",
        subject="",
        sentence=f"the article gave its servers {words.count(original.cores, 'core')}, but here they have {here}: "
        "servers with workers per core have fewer workers here, so single-process servers are at less of a "
        "disadvantage than in the article",
        advice=FEWER_CORES_ADVICE,
        numbers={"cores_of_original": original.cores, "cores": here},
    )
