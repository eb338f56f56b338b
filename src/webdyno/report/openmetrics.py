"""The report as OpenMetrics text, so that a Prometheus can take the series.

Counts and latency of every round as counters and histograms; rates, and what was estimated from them with its
interval, as gauges; doubts, the study and the machine as info. Names and units follow OpenMetrics 1.0
(https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md): a unit is the end of the name, all
samples of a family stand together, and ``# EOF`` ends it. Unknown is absent, never 0.

A bucket of a histogram holds what certainly took at most ``le``: a value stands for its HdrHistogram bucket, which is
within 0.1 %, and counts where that bucket ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from webdyno.analyse.latency import Latency, merge
from webdyno.analyse.window import Window, read_window
from webdyno.model.doubt import Doubt
from webdyno.model.estimate import Estimate
from webdyno.model.outward import clean
from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.trial import Plan, Trial
from webdyno.model.verdict import Analysis, Standing, Verdict

CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
END = "# EOF\n"
BUCKETS_S = (
    *(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05),
    *(0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
)


class Family(NamedTuple):
    """A metric family: what kind, in which unit, and what it means."""

    kind: str
    unit: str
    says: str


FAMILIES: dict[str, Family] = {
    "webdyno_study": Family("info", "", "The study, and the webdyno that measured it"),
    "webdyno_machine": Family("info", "", "The machine it was measured on"),
    "webdyno_trials_planned": Family("gauge", "", "Trials of the plan; for a race in progress, the maximum"),
    "webdyno_runs": Family("counter", "", "Recorded Runs, by outcome"),
    "webdyno_requests": Family("counter", "", "Requests after the warm-up: outcome ok, or the kind of error"),
    "webdyno_steady_seconds": Family("counter", "seconds", "Length of the steady phase"),
    "webdyno_turn_seconds": Family("counter", "seconds", "Length of all turns; absent where it was measured alone"),
    "webdyno_latency_seconds": Family(
        "histogram", "seconds", "From sent to done, at an open pace from due to done, over the steady phase"
    ),
    "webdyno_round_rate_per_second": Family("gauge", "", "Correct answers per second of one round"),
    "webdyno_round_received_bytes_per_second": Family("gauge", "", "Bytes received per second of one round"),
    "webdyno_round_cpu_per_request_seconds": Family("gauge", "seconds", "CPU of the contender for one correct answer"),
    "webdyno_round_memory_peak_bytes": Family("gauge", "bytes", "Highest memory of the contender"),
}
_FIGURES: dict[str, tuple[str, str, float, str]] = {
    "rate": ("rate{}_per_second", "", 1.0, "Correct answers per second"),
    "p50": ("latency_p50{}_seconds", "seconds", 1e-9, "Half of the answers took at most this long"),
    "p99": ("latency_p99{}_seconds", "seconds", 1e-9, "99 of 100 answers took at most this long"),
    "cpu_per_request": ("cpu_per_request{}_seconds", "seconds", 1e-9, "CPU of the contender for one correct answer"),
    "memory_peak": ("memory_peak{}_bytes", "bytes", 1.0, "Highest memory of the contender"),
    "memory_staying": ("memory_staying{}_bytes", "bytes", 1.0, "Memory that remains allocated after each request"),
    "bytes_per_s": ("received{}_bytes_per_second", "", 1.0, "Bytes received per second, heads and bodies"),
    "ratio_to_best": ("to_best{}_ratio", "ratio", 1.0, "Rate divided by that of the first of its table"),
}
"""Figure of a Standing: name with a gap for the bound, unit, scale to it, meaning."""
_BOUNDS = {"value": "", "low": "_low", "high": "_high"}
_BOUND_SAYS = {"value": "estimate over rounds", "low": "low end of its 95 % interval", "high": "high end of it"}
for _name, _unit, _, _says in _FIGURES.values():
    for _bound, _end in _BOUNDS.items():
        FAMILIES[f"webdyno_{_name.format(_end)}"] = Family("gauge", _unit, f"{_says}: {_BOUND_SAYS[_bound]}")
FAMILIES["webdyno_place"] = Family("gauge", "", "Place by rate, from 1")
FAMILIES["webdyno_tie"] = Family("info", "", "Contenders that share a letter are tied")
FAMILIES["webdyno_error_ratio"] = Family(
    "gauge", "ratio", "Requests not answered correctly, over rounds that succeeded"
)
FAMILIES["webdyno_doubt"] = Family("info", "", "A reason not to trust a figure; contender empty: the whole table")

Labels = dict[str, str]
LoadNames = dict[tuple[str, str, str], str]
Families = dict[str, dict[tuple[str, str], float]]
"""Values by family, and there by the end of the name and the labels as text."""


class Sample(NamedTuple):
    """One line: ``webdyno_runs`` + ``_total`` with its labels and value."""

    family: str
    end: str
    labels: Labels
    value: float


def render_openmetrics(plan: Plan, fingerprint: Fingerprint, runs: Sequence[Run], analysis: Analysis | None) -> str:
    """The whole exposition of one results folder; without ``analysis`` only what was counted."""
    return text(samples_of(plan, fingerprint, runs, analysis))


def samples_of(
    plan: Plan, fingerprint: Fingerprint, runs: Sequence[Run], analysis: Analysis | None
) -> Iterator[Sample]:
    """Everything about one results folder."""
    from webdyno.analyse.replay import trials_in_all  # numpy, which other commands need not wait for

    yield from head(plan, fingerprint, trials_in_all(plan, runs, fingerprint.ceilings))
    last = {run.trial.id: number for number, run in enumerate(runs)}
    names = load_names(plan)
    for number, run in enumerate(runs):
        yield from about_run(plan, names, run, counts=last[run.trial.id] == number)
    if analysis is not None:
        yield from about_tables(plan, analysis.verdicts, analysis.doubts)


def head(plan: Plan, fingerprint: Fingerprint, planned: int | None = None) -> Iterator[Sample]:
    """Study, machine, and how many Trials are ``planned``; as many as there may be when that is not known."""
    study = {"study": plan.study}
    about = {"title": plan.title, "seed": str(plan.seed), "version": fingerprint.webdyno}
    yield Sample("webdyno_study", "_info", study | about, 1)
    machine = {name: getattr(fingerprint, name) or "" for name in ("hostname", "cpu_model", "kernel", "distribution")}
    yield Sample("webdyno_machine", "_info", study | machine | {"cores": str(fingerprint.cores)}, 1)
    yield Sample("webdyno_trials_planned", "", study, plan.most_trials if planned is None else planned)


def load_names(plan: Plan) -> LoadNames:
    """Label of every load, by workload, whole text and driver; loads that read alike (other lengths) get a number."""
    keys = sorted({(t.workload, t.load.connections, repr(t.load), t.driver): t for t in plan.trials}.items())
    names: LoadNames = {}
    seen: dict[tuple[str, str, str], list[str]] = {}
    for (workload, _, whole, driver), trial in keys:
        alike = seen.setdefault((workload, trial.load.label, driver), [])
        if whole not in alike:
            alike.append(whole)
        names[workload, whole, driver] = _numbered(trial.load.label, alike.index(whole))
    return names


def _numbered(label: str, at: int) -> str:
    return f"{label} ({at + 1})" if at else label


def about_run(
    plan: Plan, names: LoadNames, run: Run, *, counts: bool = True, read: Window | None = None
) -> Iterator[Sample]:
    """One Run; ``counts`` False: a later one of the same Trial took its place, and it is only counted. ``read``: what
    was read of it, by itself.
    """
    cell = _cell(plan, names, run.trial)
    yield Sample("webdyno_runs", "_total", cell | {"outcome": run.outcome}, 1)
    window = (read or read_window(run)) if counts else None
    if window is None:
        return
    here = cell | {"round": str(run.trial.round)}
    for outcome, number in {"ok": window.ok, **window.errors}.items():
        yield Sample("webdyno_requests", "_total", here | {"outcome": outcome}, number)
    yield Sample("webdyno_steady_seconds", "_total", here, window.seconds)
    if window.turned is not None:
        yield Sample("webdyno_turn_seconds", "_total", here, window.turned.seconds)
    yield Sample("webdyno_round_rate_per_second", "", here, window.rate_per_s)
    if (received := window.bytes_per_s) is not None:
        yield Sample("webdyno_round_received_bytes_per_second", "", here, received)
    if (cpu_ns := window.cpu_per_request_ns) is not None:
        yield Sample("webdyno_round_cpu_per_request_seconds", "", here, cpu_ns * 1e-9)
    if run.memory_peak_bytes is not None:
        yield Sample("webdyno_round_memory_peak_bytes", "", here, run.memory_peak_bytes)
    yield from _histogram(here, _waited(window))


def _cell(plan: Plan, names: LoadNames, trial: Trial) -> Labels:
    load = names.get((trial.workload, repr(trial.load), trial.driver), trial.load.label)
    return {
        "study": plan.study,
        "contender": trial.contender,
        "workload": trial.workload,
        "load": load,
        "driver": trial.driver,
    }


def _waited(window: Window) -> Latency | None:
    """What a user waits: at an open pace from due."""
    if not window.run.trial.load.is_open:
        return window.latency
    steady = [slice_ for slice_ in window.run.slices if slice_.phase == "steady"]
    return merge(slice_.response_hdr for slice_ in steady if slice_.response_hdr) or window.latency


def _histogram(labels: Labels, latency: Latency | None) -> Iterator[Sample]:
    if latency is None:
        return
    for limit_s, within in zip(BUCKETS_S, latency.within(limit_s * 1e9 for limit_s in BUCKETS_S), strict=True):
        yield Sample("webdyno_latency_seconds", "_bucket", labels | {"le": repr(limit_s)}, within)
    yield Sample("webdyno_latency_seconds", "_bucket", labels | {"le": "+Inf"}, latency.count)
    yield Sample("webdyno_latency_seconds", "_count", labels, latency.count)
    yield Sample("webdyno_latency_seconds", "_sum", labels, latency.mean_ns * latency.count * 1e-9)


def about_tables(plan: Plan, verdicts: Sequence[Verdict], doubts: Sequence[Doubt]) -> Iterator[Sample]:
    """Estimates with their intervals, places, and doubts."""
    seen: dict[tuple[str, str, str], int] = {}
    for verdict in verdicts:
        table = (verdict.workload, verdict.load, verdict.driver)
        load = _numbered(verdict.load, seen.get(table, 0))
        seen[table] = seen.get(table, 0) + 1
        where = {"study": plan.study, "workload": verdict.workload, "load": load, "driver": verdict.driver}
        for standing in verdict.standings:
            yield from _standing(where | {"contender": standing.contender}, standing)
        yield from _doubts(where, verdict)
    nowhere = {"study": plan.study, "workload": "", "load": "", "driver": ""}
    for kind, severity in dict.fromkeys((doubt.kind, doubt.severity) for doubt in doubts):
        yield Sample("webdyno_doubt", "_info", nowhere | {"contender": "", "kind": kind, "severity": severity}, 1)


def _standing(labels: Labels, standing: Standing) -> Iterator[Sample]:
    for field, (name, _, scale, _) in _FIGURES.items():
        estimate: Estimate | None = getattr(standing, field)
        for bound, end in _BOUNDS.items():
            if estimate is not None and (value := getattr(estimate, bound)) is not None:
                yield Sample(f"webdyno_{name.format(end)}", "", labels, value * scale)
    if standing.place is not None:
        yield Sample("webdyno_place", "", labels, standing.place)
        yield Sample("webdyno_tie", "_info", labels | {"letters": standing.letters}, 1)
    if standing.rate is not None:
        yield Sample("webdyno_error_ratio", "", labels, standing.error_ratio)


def _doubts(where: Labels, verdict: Verdict) -> Iterator[Sample]:
    about = [("", doubt) for doubt in verdict.doubts]
    about += [(standing.contender, doubt) for standing in verdict.standings for doubt in standing.doubts]
    for name, kind, severity in dict.fromkeys((name, doubt.kind, doubt.severity) for name, doubt in about):
        yield Sample("webdyno_doubt", "_info", where | {"contender": name, "kind": kind, "severity": severity}, 1)


# Text


def text(samples: Iterable[Sample]) -> str:
    """The exposition of these."""
    families: Families = {}
    add(families, samples)
    return told(families)


def add(families: Families, samples: Iterable[Sample]) -> None:
    """Take more; counters that come more than once are added up, for anything else the last one counts."""
    for sample in samples:
        family = families.setdefault(sample.family, {})
        key = (sample.end, _labels(sample.labels))
        before = family.get(key, 0) if FAMILIES[sample.family].kind == "counter" else 0
        family[key] = before + sample.value


def add_all(families: Families, more: Families) -> None:
    """Take what was taken elsewhere, as ``add`` does."""
    for name, samples in more.items():
        family, counts = families.setdefault(name, {}), FAMILIES[name].kind == "counter"
        for key, value in samples.items():
            family[key] = family.get(key, 0) + value if counts else value


def told(families: Families) -> str:
    """The exposition of what was taken."""
    return "".join([*(_family(name, families[name]) for name in FAMILIES if name in families), END])


def _family(name: str, samples: dict[tuple[str, str], float]) -> str:
    kind, unit, says = FAMILIES[name]
    lines = [f"# TYPE {name} {kind}"]
    lines += [f"# UNIT {name} {unit}"] if unit else []
    lines.append(f"# HELP {name} {_escaped(says)}")
    lines += [f"{name}{end}{labels} {_number(value)}" for (end, labels), value in samples.items()]
    return "\n".join(lines) + "\n"


def _labels(labels: Labels) -> str:
    inside = ",".join(map(_label, labels.keys(), labels.values()))
    return f"{{{inside}}}" if inside else ""


@lru_cache(maxsize=4096)
def _label(name: str, value: str) -> str:
    """Kept: all lines of a Run have the same but for one."""
    return f'{name}="{_escaped(value)}"'


def _escaped(value: str) -> str:
    """As the specification's ``escaped-string``, of what is clean."""
    return clean(value).replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else repr(float(value))
