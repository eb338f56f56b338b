"""What a picture is made of, put together by hand: an analysis of many contenders takes minutes, its picture none."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.analyse.fakes import FINGERPRINT, contender, plan, run
from webdyno.model.doubt import Doubt
from webdyno.model.estimate import Estimate
from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.model.verdict import Analysis, Standing, Verdict
from webdyno.report.picture import render_picture

EVIL = "<script>alert(1)</script>\"'><img src=x>&lt; ]]> \x1b[31m \u202e \ud800 漢字漢字 " + "W" * 60


def estimate(value: float, half: float | None = None) -> Estimate:
    low, high = (None, None) if half is None else (value - half, value + half)
    return Estimate(value=value, low=low, high=high, rounds=3, unit="per_s")


def standing(name: str, per_s: float | None = 1000.0, **changes: Any) -> Standing:
    made = Standing(
        contender=name,
        place=None if per_s is None else 1,
        letters="" if per_s is None else "A",
        rate=None if per_s is None else estimate(per_s, per_s * 0.05),
        p50=None,
        p99=None,
        cpu_per_request=None,
        memory_peak=None,
        ratio_to_best=None,
        requests_per_connection=None,
        errors={},
        error_ratio=0.0,
        rounds_ok=0 if per_s is None else 3,
        rounds_failed=3 if per_s is None else 0,
        outcomes={"ok": 3} if per_s is not None else {"build-failed": 3},
    )
    return msgspec.structs.replace(made, **changes)


def verdict(*standings: Standing, **changes: Any) -> Verdict:
    made = Verdict(
        workload="hello",
        load="64 connections, keep-alive",
        sentence="go served the most",
        standings=list(standings),
        winners=[standings[0].contender] if standings else [],
        connections=64,
    )
    return msgspec.structs.replace(made, **changes)


def doubt(kind: str, severity: str = "shades", subject: str = "") -> Doubt:
    return Doubt(kind=kind, severity=severity, subject=subject, sentence="it is so", advice="look")  # type: ignore[arg-type]


def picture(*verdicts: Verdict, machine: Fingerprint = FINGERPRINT, **settings: Any) -> str:
    """The SVG of these tables; ``title``, ``sentence`` and ``doubts`` as given."""
    names = {s.contender for each in verdicts for s in each.standings}
    runs: list[Run] = [run("go")]
    made: Plan = plan(
        runs, title=settings.pop("title", "A study"), contenders={name: contender(name) for name in names | {"go"}}
    )
    analysis = Analysis(
        sentence=settings.pop("sentence", "take go: it served the most on every workload"),
        verdicts=list(verdicts),
        recommended="go",
        recommended_command=[],
        doubts=settings.pop("doubts", []),
    )
    return render_picture(made, machine, runs, analysis, **{"dark": False, **settings})
