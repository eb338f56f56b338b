"""OpenMetrics: what Prometheus' own parser makes of it, and that its numbers are the report's."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from tests.analyse.fakes import FINGERPRINT, LOAD, contender, plan, run, slices, spread, study, workload
from tests.analyse.turning import block_of
from tests.report import once
from webdyno.analyse import analyse
from webdyno.model.load import Load
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.report.openmetrics import BUCKETS_S, FAMILIES, render_openmetrics, samples_of, text

EVIL = 'quote " backslash \\ newline \n comma , brace } = é \u2028 \x07 \\n'


def parsed(exposition: str) -> dict[str, Metric]:
    families = list(text_string_to_metric_families(exposition))
    assert len({family.name for family in families}) == len(families)
    return {family.name: family for family in families}


def told(runs: list[Run], whole: Plan | None = None, *, analysed: bool = True) -> dict[str, Metric]:
    made = (whole or plan(runs), FINGERPRINT, runs)
    return parsed(render_openmetrics(*made, analyse(*made) if analysed else None))


def value(families: dict[str, Metric], name: str, end: str = "", **labels: str) -> float:
    found = [
        sample.value
        for sample in families[name].samples
        if sample.name == name + end and labels.items() <= sample.labels.items()
    ]
    assert len(found) == 1, found
    return found[0]


def test_a_whole_study_parses_and_says_what_the_analysis_says() -> None:
    whole, machine, runs = made = study()
    analysis = once.analysed(made)
    families = parsed(render_openmetrics(whole, machine, runs, analysis))
    assert set(families) == set(FAMILIES) - {"webdyno_turn_seconds"}
    first = analysis.verdicts[0].standings[0]
    cell = {"contender": first.contender, "workload": "hello"}
    assert first.rate is not None
    assert first.p99 is not None
    assert value(families, "webdyno_rate_per_second", **cell) == first.rate.value
    assert value(families, "webdyno_rate_low_per_second", **cell) == first.rate.low
    assert value(families, "webdyno_latency_p99_high_seconds", **cell) == pytest.approx((first.p99.high or 0) / 1e9)
    assert value(families, "webdyno_place", **cell) == 1
    died = {"contender": "cherrypy", "workload": "json", "outcome": "died"}
    assert value(families, "webdyno_runs", "_total", **died) == 1
    kinds = {sample.labels["kind"] for sample in families["webdyno_doubt"].samples}
    assert {doubt.kind for verdict in analysis.verdicts for doubt in verdict.doubts} <= kinds


def test_names_end_in_their_units_and_the_text_in_eof() -> None:
    exposition = render_openmetrics(*(made := study()), once.analysed(made))
    assert exposition.endswith("\n# EOF\n")
    assert exposition.count("# EOF") == 1
    for name, family in FAMILIES.items():
        assert name.endswith(f"_{family.unit}" if family.unit else "")
        assert family.says
    for name, family in parsed(exposition).items():
        assert (family.unit, family.documentation) == (FAMILIES[name].unit, FAMILIES[name].says)


def test_in_turns_the_requests_are_of_the_turns_and_the_window_and_both_lengths_are_told() -> None:
    families = told(block_of({"go": [100, 120], "node": [50, 60]}, rate=1000.0), analysed=False)
    here = {"contender": "go", "round": "1"}
    assert value(families, "webdyno_turn_seconds", "_total", **here) == pytest.approx(0.2)
    assert value(families, "webdyno_steady_seconds", "_total", **here) == 2
    assert value(families, "webdyno_requests", "_total", **here, outcome="ok") == 220 + 2000
    assert value(families, "webdyno_round_rate_per_second", **here) == pytest.approx(1100)


def test_counts_are_the_steady_phase_of_a_round_and_errors_are_outcomes() -> None:
    one = run("go", round_=2, rate=1000.0)
    wrong = [msgspec.structs.replace(s, errors={"timeout": 3, "unfinished": 5}) for s in one.slices]
    families = told([msgspec.structs.replace(one, slices=wrong)], analysed=False)
    assert value(families, "webdyno_requests", "_total", outcome="ok", round="2") == 2000
    assert value(families, "webdyno_requests", "_total", outcome="timeout", round="2") == 6
    assert all(sample.labels["outcome"] != "unfinished" for sample in families["webdyno_requests"].samples)
    assert value(families, "webdyno_steady_seconds", "_total", round="2") == 2
    assert value(families, "webdyno_round_rate_per_second", round="2") == 1000
    assert value(families, "webdyno_round_memory_peak_bytes", round="2") == 61_000_000
    assert "webdyno_place" not in families


def test_the_histogram_is_what_was_counted_within_a_thousandth() -> None:
    latency = spread(np.random.default_rng(5), 4e6, 0.8, 6000)
    families = told([run("go", latency_ns=latency)], analysed=False)
    name = "webdyno_latency_seconds"
    count = value(families, name, "_count")
    assert count == 6000
    assert value(families, name, "_bucket", le="+Inf") == count
    assert value(families, name, "_sum") == pytest.approx(float(latency.sum()) / 1e9, rel=0.002)
    for limit_s in BUCKETS_S:
        within = value(families, name, "_bucket", le=repr(limit_s))
        surely, at_most = ((latency <= limit_s * 1e9 * part).sum() for part in (0.998, 1.0))
        assert surely <= within <= at_most


def test_an_open_load_counts_from_when_a_request_was_due() -> None:
    load = Load(connections=4, max_connections=8, rate_per_s=100.0, duration_s=2.0)
    sent, due = np.full(100, 1e6), np.full(100, 2e9)
    waited = slices([50.0, 50.0], due)[1].latency_hdr
    one = run(
        "go", load=load, slices=[msgspec.structs.replace(s, response_hdr=waited) for s in slices([50.0, 50.0], sent)]
    )
    families = told([one], analysed=False)
    assert value(families, "webdyno_latency_seconds", "_bucket", le="1.0") == 0


def test_whatever_is_in_a_name_comes_back_as_it_was() -> None:
    runs = [run(EVIL, workload=EVIL, round_=r) for r in (1, 2)]
    whole = plan(
        runs, study=EVIL, title=EVIL, contenders={EVIL: contender(EVIL)}, workloads={EVIL: workload(EVIL, title=EVIL)}
    )
    families = told(runs, whole)
    tame = EVIL.replace("\u2028", "\\u2028").replace("\x07", "\\u0007")
    [label] = {sample.labels["contender"] for sample in families["webdyno_runs"].samples}
    assert label == tame
    assert families["webdyno_study"].samples[0].labels["title"] == tame


def test_bytes_that_are_no_text_are_replaced() -> None:
    runs = [run("caf\udce9")]
    assert 'contender="caf' in render_openmetrics(plan(runs), FINGERPRINT, runs, None).encode().decode()


def test_loads_that_read_alike_stay_apart() -> None:
    other = msgspec.structs.replace(LOAD, duration_s=9.0)
    runs = [run("go", load=load, round_=r, trial=_trial(load, r)) for load in (LOAD, other) for r in (1, 2)]
    families = told(runs)
    loads = {sample.labels["load"] for sample in families["webdyno_runs"].samples}
    assert loads == {LOAD.label, f"{LOAD.label} (2)"}
    assert {sample.labels["load"] for sample in families["webdyno_rate_per_second"].samples} == loads


def _trial(load: Load, round_: int):  # type: ignore[no-untyped-def]
    made = run("go", load=load, round_=round_).trial
    return msgspec.structs.replace(made, id=f"{made.id}/{load.duration_s}")


def test_a_run_whose_place_was_taken_counts_as_a_run_only() -> None:
    runs = [run("go", outcome="interrupted", slices=[]), run("go", rate=500.0)]
    families = told(runs, plan(runs[1:]), analysed=False)
    assert value(families, "webdyno_runs", "_total", outcome="interrupted") == 1
    assert value(families, "webdyno_requests", "_total", outcome="ok") == 1000


def test_nothing_measured_is_still_an_exposition() -> None:
    made = (plan([run()]), FINGERPRINT, list[Run]())
    assert set(parsed(render_openmetrics(*made, analyse(*made)))) == {
        "webdyno_study",
        "webdyno_machine",
        "webdyno_trials_planned",
        "webdyno_doubt",  # nothing is there yet
    }
    assert text([]) == "# EOF\n"


def test_two_folders_in_one_text_keep_their_families_together() -> None:
    one, other = [run("a")], [run("b")]
    samples = [*samples_of(plan(one, study="x"), FINGERPRINT, one, None)]
    samples += samples_of(plan(other, study="y"), FINGERPRINT, other, None)
    assert {sample.labels["study"] for sample in parsed(text(samples))["webdyno_runs"].samples} == {"x", "y"}
