"""The first sentence, from rates that are known: faster, not told apart, the fastest already, alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from tests.analyse import fakes
from tests.fakes import contender
from webdyno.model.doubt import Doubt
from webdyno.model.verdict import Analysis, Estimate, Standing, Verdict
from webdyno.session.tryout.answer import Answer, answer_of, called, doubts_of
from webdyno.session.tryout.fitting import Setting

MEMORY, P99 = {"fast": 60 * 2**20, "current": 30 * 2**20}, {"fast": 12e6, "current": 41e6}


def setting(name: str) -> Setting:
    return Setting(contender(name), name, None if name == "current" else 2, None, True)


def standing(name: str, place: int, rate: float) -> Standing:
    def of(value: float | None) -> Estimate | None:
        return None if value is None else Estimate(value=value, low=None, high=None, rounds=4, unit="")

    return Standing(
        contender=name,
        place=place,
        letters="",
        rate=of(rate),
        p50=None,
        p99=of(P99.get(name)),
        cpu_per_request=None,
        memory_peak=of(MEMORY.get(name)),
        ratio_to_best=None,
        requests_per_connection=None,
        errors={},
        error_ratio=0.0,
        rounds_ok=4,
        rounds_failed=0,
        outcomes={"ok": 4},
    )


def answered(
    rates: dict[str, list[float]],
    winners: list[str],
    current: str | None = "gunicorn a:b",
    void: Doubt | None = None,
) -> Answer:
    def window(name: str, round_: int, rate: float) -> Any:
        trial = SimpleNamespace(contender=name, round=round_)
        return SimpleNamespace(
            run=SimpleNamespace(trial=trial, block=None, rig=fakes.RIG), rate_per_s=rate, turned=None
        )

    standings = [standing(name, place, each[0]) for place, (name, each) in enumerate(rates.items(), 1)]
    if void is not None:
        standings = [
            msgspec.structs.replace(each, place=None, doubts=[void]) if each.contender == void.subject else each
            for each in standings
        ]
    verdict = Verdict(workload="app", load="", sentence="nobody served", standings=standings, winners=winners)
    analysis = Analysis(sentence="", verdicts=[verdict], recommended=None, recommended_command=[], doubts=[])
    windows = [window(name, round_, rate) for name, each in rates.items() for round_, rate in enumerate(each, 1)]
    return answer_of(analysis, windows, {name: setting(name) for name in rates}, current)


NOISE = (1.0, 1.01, 0.99, 1.02)


def rates(**middle: float) -> dict[str, list[float]]:
    return {
        name: [rate * NOISE[(at + shift) % 4] for at in range(4)] for shift, (name, rate) in enumerate(middle.items())
    }


def test_a_faster_server_is_told_with_its_ratio_latency_and_memory() -> None:
    answer = answered(rates(fast=1800, current=1000), ["fast"])
    assert answer.best == "fast"
    assert answer.ratio is not None
    assert answer.ratio.value == pytest.approx(1.8, rel=0.01)
    assert answer.sentence.startswith("On this machine, for this app: fast, 2 workers: 1.8")
    assert answer.sentence.endswith(
        "your current `gunicorn a:b`, p99 12.0 ms instead of 41.0 ms, 30.0 MiB more memory."
    )


def test_a_tie_with_the_current_server_is_no_reason_to_change() -> None:
    answer = answered(rates(fast=1010, current=1000), ["fast", "current"])
    assert (answer.best, answer.first) == ("current", "fast")
    assert "nothing tried is faster beyond doubt than your current `gunicorn a:b`" in answer.sentence
    assert "chance" not in answer.sentence
    answer = answered(rates(fast=1800, current=1000), ["fast", "current"])
    assert answer.best == "current"
    assert "which can be chance when this many are compared" in answer.sentence


def test_the_current_server_may_be_the_fastest() -> None:
    answer = answered(rates(current=1000, fast=500), ["current"])
    assert (answer.best, answer.against, answer.first) == ("current", "fast", None)
    assert answer.sentence.startswith(
        "On this machine, for this app: keep your current `gunicorn a:b`; it served the most, 2.0"
    )


def test_without_a_baseline_the_next_server_is_the_measure() -> None:
    answer = answered(rates(fast=1800, slow=900), ["fast"], current=None)
    assert (answer.best, answer.against, answer.first) == ("fast", "slow", "fast")
    assert "x) slow, 2 workers; p99 12.0 ms, 60.0 MiB of memory." in answer.sentence
    alone = answered(rates(fast=1800), ["fast"], current=None)
    assert "no other server could be compared with it" in alone.sentence


def test_a_current_server_whose_figures_are_void_is_not_passed_over() -> None:
    answer = answered(rates(fast=1800, slow=900), ["fast"])
    assert answer.sentence.endswith("Your current `gunicorn a:b` is not ranked: see the doubts.")


def test_the_ratio_to_a_current_server_that_is_not_ranked_is_told_with_its_reservation() -> None:
    starved = Doubt(
        kind="starved-connections",
        severity="voids",
        subject="current",
        sentence="current left 20 of 32 connections without a single answer",
        advice="",
    )
    answer = answered(rates(fast=150, slow=100, current=5), ["fast"], void=starved)
    assert answer.best == "fast"
    assert f" Your current `gunicorn a:b` is not ranked ({starved.sentence}). With" in answer.sentence
    assert ". With that reservation, fast, 2 workers serves 30" in answer.sentence
    assert answer.sentence.endswith("x) it.")


def test_who_cannot_be_told_from_the_first_is_named() -> None:
    answer = answered(rates(fast=1800, other=1790, current=1000), ["fast", "other"])
    assert answer.ties == ["other"]
    assert answer.sentence.endswith("Tied with it: other, 2 workers.")


def test_nothing_to_compare_is_said() -> None:
    answer = answered({}, [])
    assert (answer.best, answer.sentence) == (None, "Nothing can be recommended: nobody served.")


def test_a_setting_is_called_by_what_it_has() -> None:
    made = Setting(contender("granian-wsgi-1w-2t"), "granian-wsgi", 1, 2, False)
    assert called(made) == "granian-wsgi, 1 worker, 2 threads"
    assert called(setting("current")) == "current"


def test_settings_that_differ_on_purpose_are_no_doubt() -> None:
    def doubt(kind: str, severity: Any = "shades", subject: str = "") -> Doubt:
        return Doubt(kind=kind, severity=severity, subject=subject, sentence="", advice="")

    verdict = Verdict(
        workload="app",
        load="",
        sentence="",
        standings=[],
        winners=[],
        doubts=[doubt("unequal-parallelism"), doubt("x")],
    )
    analysis = Analysis(sentence="", verdicts=[verdict], recommended=None, recommended_command=[], doubts=[doubt("y")])
    assert [each.kind for each in doubts_of(analysis, None)] == ["x", "y"]
