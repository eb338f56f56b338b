"""Words of the reports: titles, outcomes, doubts and failures as sentences, written once for every form.

Numbers are written by ``analyse.words``, which the sentences of verdicts and doubts use too; they are handed on from
here, so that all reports need one place only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from webdyno.analyse.words import (
    MISSING,
    count,
    interval,
    is_unknown,
    length,
    listing,
    number,
    of_best,
    per_cent,
    plain,
    rate,
    size,
    time_ns,
    time_unit,
    times,
)
from webdyno.model.claim import ClaimVerdict, Open
from webdyno.model.doubt import Doubt
from webdyno.model.log import last_lines
from webdyno.model.outward import clean
from webdyno.model.rig import Fingerprint, Rig
from webdyno.model.run import Run
from webdyno.model.verdict import Analysis, Standing, Verdict

__all__ = [
    "MISSING",
    "count",
    "interval",
    "is_unknown",
    "length",
    "listing",
    "number",
    "of_best",
    "per_cent",
    "plain",
    "rate",
    "size",
    "time_ns",
    "time_unit",
    "times",
]


class Column(msgspec.Struct, frozen=True):
    """A figure of the ranking: its title, what it means, and its text for one contender."""

    title: str
    meaning: str


_NEIGHBOURS = 4
"""Tie letters in a row that are shown by the first and the last of them."""

COLUMNS: dict[str, Column] = {
    "place": Column("#", "Place by requests/s. Contenders that share a tie letter are tied"),
    "contender": Column("contender", "Server, app, runtime and worker model under one name"),
    "rate": Column(
        "requests/s",
        "Correct answers per second over its turns, or over the steady phase where it was measured alone, adjusted for "
        "differences between rounds",
    ),
    "interval": Column(
        "95 % interval",
        "The interval of the rate on its own, over rounds with a fresh server process each. To compare "
        "contenders, use the interval of vs best",
    ),
    "ratio": Column("vs best", "Rate divided by the best rate of the table, and the interval of that ratio"),
    "tie": Column(
        "tie",
        "Two contenders share a letter exactly when they are tied: neither is said to beat the other (Holm, 5 % "
        "per table); A-D includes B and C",
    ),
    "p50": Column("p50", "Half of the answers took at most this long"),
    "p99": Column("p99", "99 of 100 answers took at most this long"),
    "cpu": Column("CPU/req", "CPU time of the contender's whole process tree for one correct answer"),
    "memory": Column("peak memory", "Highest memory of the contender's whole process tree"),
    "errors": Column("errors", "Requests that were not answered correctly, as a share of all"),
    "served": Column(
        "connections served",
        "Connections that got an answer, out of all that sent a request, in the round with the fewest; no "
        "percentile includes the others",
    ),
    "doubts": Column("doubts", "Numbers of the doubts listed below the table"),
}


def cells(standing: Standing, dash: str = "-") -> dict[str, str]:
    """The text of every column but the doubts, for one contender."""
    rate_ = standing.rate
    return {
        "place": str(standing.place) if standing.place is not None else MISSING,
        "contender": standing.contender,
        "rate": plain(rate_) if rate_ else MISSING,
        "interval": (interval(rate_, dash=dash) or "one round") if rate_ else MISSING,
        "ratio": of_best(standing.ratio_to_best, dash) if standing.ratio_to_best else MISSING,
        "tie": tie(standing.letters),
        "p50": time_ns(standing.p50) if standing.p50 else MISSING,
        "p99": time_ns(standing.p99) if standing.p99 else MISSING,
        "cpu": time_ns(standing.cpu_per_request) if standing.cpu_per_request else MISSING,
        "memory": memory(standing),
        "errors": per_cent(standing.error_ratio) if rate_ else MISSING,
        "served": _of_all(standing),
    }


def columns(standings: Iterable[Standing]) -> list[str]:
    """Keys of the columns that say something of these: connections served only where some were not."""
    starved = any(it.connections_served is not None and it.connections_served != it.connections for it in standings)
    return [key for key in COLUMNS if starved or key != "served"]


def _of_all(standing: Standing) -> str:
    if standing.connections_served is None or standing.connections is None:
        return MISSING
    return f"{count(standing.connections_served)} of {count(standing.connections)}"


BY_RATIO = "To compare with the best, use the interval beside vs best. To compare any two, use the tie letters."
BY_ITSELF = (
    "The 95 % interval is that of the rate alone and includes the variation between rounds, common to all contenders."
)
"""Said once in each report whose rankings have both."""


def compares(standings: Iterable[Standing]) -> bool:
    """Whether their ranking shows an interval of a ratio; with less than two rounds, or one contender, it has none."""
    ratios = [standing.ratio_to_best for standing in standings if standing.ratio_to_best is not None]
    return any(ratio.low is not None and ratio.low != ratio.high for ratio in ratios)


def memory(standing: Standing) -> str:
    """Its peak; of one that leaks also what stays with each request: ``812 MiB, +488 KiB/request``."""
    if standing.memory_peak is None:
        return MISSING
    stays = standing.memory_staying if standing.leaks else None
    return size(standing.memory_peak) + (f", +{size(stays)}/request" if stays else "")


def tie(letters: str) -> str:
    """``F-L O`` for FGHIJKLO: four neighbours or more are told by their ends, for of a hundred contenders some carry
    twenty letters. Fewer stand as they are."""
    runs: list[str] = []
    for letter in letters:
        follows = bool(runs) and ord(letter) == ord(runs[-1][-1]) + 1
        runs[-1:] = [runs[-1] + letter] if follows else [*runs[-1:], letter]
    if max(map(len, runs), default=0) < _NEIGHBOURS:
        return letters or MISSING
    return " ".join(f"{run[0]}-{run[-1]}" if len(run) >= _NEIGHBOURS else run for run in runs)


def tail(log: str, lines: int) -> str:
    """The last lines of a log, led by the one that says why, each cut to a readable length."""
    return "\n".join(line[:200] for line in last_lines(clean(log), lines))


def scalings(analysis: Analysis) -> list[str]:
    """A line for each law that was fitted, and one for each reason why others were not, with their number."""
    fitted = [f"{each.workload}: {each.sentence}" for each in analysis.scalings if each.refused is None]
    refused = Counter(each.refused for each in analysis.scalings if each.refused is not None)
    return [*fitted, *(f"{count(number, 'curve')} not fitted: {reason}" for reason, number in refused.items())]


def held_back(verdict: Verdict) -> list[str]:
    """What holds each back, like ones together: ``aiohttp and tornado are CPU-bound: ...`` shortened to names."""
    groups: dict[str, list[str]] = {}
    for standing in served(verdict):
        for limit in standing.limits[:1]:
            groups.setdefault(HELD_BY[limit.kind], []).append(standing.contender)
    if len(groups) == 1 and sum(map(len, groups.values())) == len(served(verdict)) > 2:
        return [f"all of them are {kind}" for kind in groups]
    return [f"{kind}: {listing(names, 20)}" for kind, names in groups.items()]


HELD_BY: dict[str, str] = {
    "cpu": "CPU-bound on all their cores",
    "one-core": "bound by one core of several",
    "generator": "limited by the load generator",
    "service": "waiting for the service behind them",
    "closing": "setting up a new connection each time",
    "memory": "at the memory limit",
    "backlog": "limited by a short accept queue",
    "waiting": "waiting, their cores idle",
}


def warm_ups(verdict: Verdict) -> list[tuple[str, str, str, str, str]]:
    """Contender, cold start, first answer, time to 95 % and to the steady state; empty texts for what is not known."""
    rows = []
    for standing in served(verdict):
        warm = standing.warm_up
        if warm is not None:
            lost = f"never, in {warm.unsettled} of {count(warm.read, 'round')}"
            settled = (
                ""
                if warm.settled is None
                else "from the start"
                if warm.settled.value == 0
                else time_ns(warm.settled.value)
            )
            rows.append(
                (
                    standing.contender,
                    time_ns(warm.cold_start) if warm.cold_start else "",
                    time_ns(warm.first_answer) if warm.first_answer else "",
                    "" if warm.to_95 is None else f"{warm.to_95.value / 1e9:g} s",
                    lost if warm.unsettled else settled,
                )
            )
    return rows


def served(verdict: Verdict) -> list[Standing]:
    """Contenders with a figure."""
    return [standing for standing in verdict.standings if standing.rate is not None]


def tally(claims: Sequence[ClaimVerdict]) -> str:
    """``9 claims: 4 hold, 2 do not hold, 3 undecided.``"""
    by, ours = Counter(claim.ruling for claim in claims), sum(claim.ours for claim in claims)
    not_theirs = f", {ours} of them ours" if ours else ""
    return (
        f"{count(len(claims), 'claim')}{not_theirs}: {by['holds']} {'holds' if by['holds'] == 1 else 'hold'}, "
        f"{by['does not hold']} {'does' if by['does not hold'] == 1 else 'do'} not hold, "
        f"{by['cannot tell']} undecided{_open(claims)}."
    )


OPEN: dict[Open, str] = {
    "not measured": "not measured here",
    "cores": "for lack of cores",
    "missing": "because something is not installed",
    "void": "because a figure is void",
    "held back": "because the measurement held a contender back",
    "precision": "for lack of precision",
}
"""What keeps claims undecided."""


def _open(claims: Sequence[ClaimVerdict]) -> str:
    """`` (1 for lack of cores, 3 for lack of precision)``; empty where none is undecided."""
    by = Counter(claim.open for claim in claims if claim.open is not None)
    parts = [f"{by[why]} {words}" for why, words in OPEN.items() if by[why]]
    return f" ({', '.join(parts)})" if parts else ""


class Mark(msgspec.Struct, frozen=True):
    """One kind of doubt with its number, everyone it is about, and what to do."""

    number: int
    kind: str
    voids: bool
    sentences: list[str]
    advice: str


def marks(analysis: Analysis) -> list[Mark]:
    """Every kind of doubt in the analysis, numbered: those that void first, then those about everything."""
    found: dict[str, list[Doubt]] = {}
    for doubt in sorted(_all(analysis), key=lambda doubt: (doubt.severity != "voids", bool(doubt.subject))):
        found.setdefault(doubt.kind, []).append(doubt)
    return [
        Mark(
            number=at,
            kind=kind,
            voids=any(doubt.severity == "voids" for doubt in doubts),
            sentences=_shortened(doubts),
            advice=doubts[0].advice,
        )
        for at, (kind, doubts) in enumerate(found.items(), 1)
    ]


def _all(analysis: Analysis) -> Iterable[Doubt]:
    yield from analysis.doubts
    for verdict in analysis.verdicts:
        yield from verdict.doubts
        for standing in verdict.standings:
            yield from standing.doubts


def _shortened(doubts: Sequence[Doubt], most: int = 3) -> list[str]:
    """One sentence for each subject; beyond ``most`` the rest by name only, and of whole tables by their number."""
    first: dict[str, Doubt] = {}
    for doubt in doubts:
        first.setdefault(doubt.subject or doubt.sentence, doubt)
    shown = list(first.values())
    told, rest = [doubt.sentence for doubt in shown[:most]], shown[most:]
    named = [doubt.subject for doubt in rest if doubt.subject]
    told += [f"the same for {listing(named)}"] if named else []
    tables = len(rest) - len(named)
    return [*told, f"similar in {count(tables, 'more table')}"] if tables else told


def machine(fingerprint: Fingerprint) -> list[tuple[str, str]]:
    """The machine as label and text; what could not be read is left out."""
    facts = [
        ("Fleet", fingerprint.fleet and f"{count(len(fingerprint.fleet), 'host')}: {listing([*fingerprint.fleet])}"),
        ("Host", fingerprint.hostname),
        ("CPU", f"{fingerprint.cpu_model} ({fingerprint.architecture})"),
        ("Cores", f"{fingerprint.cores}, {fingerprint.cores_usable} usable"),
        ("Threads per core", fingerprint.threads_per_core),
        ("Governor", fingerprint.governor),
        ("Turbo", None if fingerprint.turbo is None else "on" if fingerprint.turbo else "off"),
        ("Memory", f"{size(fingerprint.memory_bytes)}, swap {size(fingerprint.swap_bytes)}"),
        ("Kernel", fingerprint.kernel),
        ("System", fingerprint.distribution),
        ("Virtualisation", fingerprint.virtualisation),
        ("cgroup", fingerprint.cgroup),
        ("Clock source", fingerprint.clocksource),
        ("Load before start", f"{fingerprint.load_before:.2f}"),
        ("Open files limit", count(fingerprint.open_files_limit)),
        ("Mitigations", "; ".join(f"{name}: {state}" for name, state in fingerprint.mitigations.items())),
        ("webdyno", f"{fingerprint.webdyno}, Python {fingerprint.python}"),
    ]
    return [(label, str(text)) for label, text in facts if text]


def placement(rig: Rig) -> str:
    """``contender on core 0, driver on core 1, at most 512 MiB, cgroup v2``."""
    return f"{cores(rig)}, {limits(rig)}"


def cores(rig: Rig) -> str:
    """``contender on core 0, driver on core 1``; ``of 10.0.0.2, another machine`` where it was on one."""
    whose = f" of {rig.driver_host}, another machine" if rig.driver_host else " of each host" * bool(rig.contender_host)
    return f"contender on {_cores(rig.contender_cores)}, driver on {_cores(rig.driver_cores)}{whose}"


def services(runs: Iterable[Run]) -> list[tuple[str, str]]:
    """What stood behind the contenders: ``Service redis`` and ``redis-server 7.0.15, started on core 1``."""
    facts: dict[tuple[str, str], None] = {}
    for run in runs:
        if run.service is not None:
            where = f"started on {_cores(run.rig.service_cores)}" if run.service.started else "the user's own, by URL"
            stands = f", instead of a {run.service.genuine}" if run.service.is_stand_in else ""
            later = f", its answers delayed by {run.service.delay_ms} ms" if run.service.delay_ms else ""
            what = f"{run.service.kind} {run.service.version}{stands}, {where}{later}"
            facts[f"Service {run.service.service}", what] = None
    return list(facts)


def limits(rig: Rig) -> str:
    """``at most 512 MiB, cgroup v2``."""
    limit = f"at most {size(rig.memory_bytes)}" if rig.memory_bytes else "no memory limit"
    cpus = "" if rig.cpus is None else f"at most {rig.cpus:g} CPU{'' if rig.cpus == 1 else 's'}, "
    return f"{cpus}{limit}, {way(rig)}"


def way(rig: Rig) -> str:
    """How the contender was kept to these: ``cgroup v2``, ``container of podman 4.3.1 (cgroup v1)``."""
    if rig.container:
        return f"container of {rig.container} (cgroup {rig.cgroup})"
    return "affinity only, no cgroup" if rig.cgroup == "none" else f"cgroup {rig.cgroup}"


def _cores(numbers: Sequence[int]) -> str:
    return f"core{'' if len(numbers) == 1 else 's'} {','.join(map(str, numbers))}" if numbers else "any core"
