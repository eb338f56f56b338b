"""Doubt about where the service ran: on a small machine it has to share a core with somebody who is measured."""

from __future__ import annotations

from webdyno.analyse import words
from webdyno.analyse.table import Evidence
from webdyno.model.doubt import Doubt
from webdyno.model.run import Run

SERVICE_SHARES_CORES_ADVICE = (
    "use a machine with 8 cores or more, where services have their own, or give the URL of a service on another machine"
)


def service_shares_cores(evidence: Evidence) -> Doubt | None:
    """A service that webdyno started ran on a core of the load generator, or of the contenders."""
    runs = [run for run in evidence.runs if run.service is not None and run.service.started]
    shared = [name for name in ("driver", "contender") if any(_shared(run, name) for run in runs)]
    if not shared:
        return None
    people = {"driver": "the load generator", "contender": "the contenders"}
    kinds = sorted({run.service.kind for run in runs if run.service})
    return Doubt(
        kind="service-shares-cores",
        severity="shades",
        subject="",
        sentence=f"{words.listing(kinds)} ran on a core of {words.listing([people[name] for name in shared])}: "
        "the two took CPU from each other, and rates are lower than they would be on separate cores",
        advice=SERVICE_SHARES_CORES_ADVICE,
        numbers={"cores": evidence.fingerprint.cores_usable},
    )


def _shared(run: Run, role: str) -> bool:
    theirs = run.rig.own_driver_cores if role == "driver" else run.rig.contender_cores
    return bool(set(run.rig.service_cores) & set(theirs))
