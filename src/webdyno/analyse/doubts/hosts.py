"""Doubts about the hosts of a fleet: they disagree about a contender, or are machines of different kinds."""

from __future__ import annotations

import math
from collections import defaultdict

from webdyno.analyse import words
from webdyno.analyse.hosts import disagreement
from webdyno.analyse.table import Evidence, Table
from webdyno.model.doubt import Doubt

SURE = 0.01
APART = 0.05
HOSTS_DIFFER_ADVICE = (
    "measure on hosts of one kind, or on each host by itself: which of two contenders is faster may depend on the host"
)
UNLIKE_HOSTS_ADVICE = "use hosts of one kind, with one system; a report of several kinds is about their mixture"


def hosts_differ(table: Table) -> Doubt | None:
    """Hosts of a fleet disagree (p < 0.01): beside the others, a contender is 5 % faster or slower on one of them.

    By the F test of host by contender, from hosts that measured the table more than once. Shades: contenders are
    compared within hosts, so that one host is faster for all of them is no doubt.
    """
    host_of = {(w.run.trial.contender, w.run.trial.round): w.run.rig.contender_host for w in table.windows}
    if len(set(host_of.values())) < 2:
        return None
    found = disagreement(table.figures(lambda window: window.rate_per_s), table.met, host_of)
    if found is None or found.p >= SURE or abs(found.log) < math.log1p(APART):
        return None
    change = math.expm1(abs(found.log)) if found.log > 0 else -math.expm1(-abs(found.log))
    return Doubt(
        kind="hosts-differ",
        severity="shades",
        subject="",
        sentence=f"the {len(set(host_of.values()))} hosts of the fleet disagree: beside the others, {found.contender} "
        f"is {words.per_cent(change)} {'faster' if found.log > 0 else 'slower'} on {found.host} than elsewhere",
        advice=HOSTS_DIFFER_ADVICE,
        numbers={"hosts": len(set(host_of.values())), "change": math.expm1(found.log), "p": found.p},
    )


def unlike_hosts(evidence: Evidence) -> Doubt | None:
    """The hosts of a fleet have different processors, cores, kernels or systems."""
    kinds: dict[str, set[str]] = defaultdict(set)
    for run in evidence.runs:
        if run.rig.contender_host:
            kinds[run.rig.contender_machine].add(run.rig.contender_host)
    if len(kinds) < 2:
        return None
    told = words.listing([f"{words.count(len(hosts), 'host')} with {kind}" for kind, hosts in sorted(kinds.items())])
    return Doubt(
        kind="unlike-hosts",
        severity="shades",
        subject="",
        sentence=f"the hosts of the fleet are of {len(kinds)} kinds: {told}",
        advice=UNLIKE_HOSTS_ADVICE,
        numbers={"kinds": len(kinds)},
    )
