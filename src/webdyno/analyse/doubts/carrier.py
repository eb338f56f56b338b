"""Doubt about what carries drivers to another host: its daemons run beside the contender, and use CPU."""

from __future__ import annotations

import statistics

from webdyno.analyse import words
from webdyno.analyse.table import Evidence
from webdyno.analyse.window import read_window
from webdyno.model.doubt import Doubt
from webdyno.model.rig import Rig

TAKEN = 0.005
CARRIER_ADVICE = (
    "give the machine under test a second core, and start Ray there as the same user, so that its daemons can be kept "
    "off the contender's"
)


def carrier_on_cores(evidence: Evidence) -> Doubt | None:
    """Daemons that could run on the contender's cores used part of one."""
    loose = [run for run in evidence.runs if run.rig.carrier and _may_disturb(run.rig)]
    windows = [read_window(run, latencies=False) for run in loose]
    used = [cores for each in windows if each is not None and (cores := each.steady.carrier_cores) is not None]
    if not used or (taken := statistics.median(used)) < TAKEN:
        return None
    return Doubt(
        kind="carrier-on-cores",
        severity="shades",
        subject="",
        sentence=f"the daemons of {loose[0].rig.carrier} could run on the contenders' cores, and used "
        f"{words.per_cent(taken)} of one while these were measured",
        advice=CARRIER_ADVICE,
        numbers={"carrier_cores": taken},
    )


def _may_disturb(rig: Rig) -> bool:
    return not rig.carrier_confined or bool(set(rig.control_cores) & set(rig.contender_cores))
