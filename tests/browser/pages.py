"""The pages that the browser is shown, each rendered once."""

from __future__ import annotations

from functools import cache

import msgspec

from tests.analyse.fakes import FINGERPRINT, LOAD, contender, plan, run, study
from tests.report import studied
from webdyno.analyse import analyse
from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.report.html import render_html

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


def rendered(made: tuple[Plan, Fingerprint, list[Run]]) -> str:
    return render_html(*made, analyse(*made))


@cache
def quickstart() -> str:
    """Fourteen contenders in Go, JavaScript and Python, on two workloads."""
    return rendered(study())


@cache
def of_a_study() -> str:
    """Claims, curves, two drivers, and an original."""
    return rendered(studied.study())


@cache
def faceted() -> str:
    return rendered(studied.faceted())


@cache
def little() -> str:
    """One run of one contender."""
    runs = [run()]
    return rendered((plan(runs), FINGERPRINT, runs))


@cache
def evil() -> str:
    """Two contenders, one of them with a name that is markup."""
    runs = [run(name, round_=r, rate=rate) for r in (1, 2, 3) for name, rate in ((EVIL, 9000.0), ("go", 20_000.0))]
    named = {EVIL: contender(EVIL, server=EVIL, model=EVIL), "go": contender("go")}
    return rendered((plan(runs, contenders=named), FINGERPRINT, runs))


@cache
def many_tables() -> str:
    """Three contenders at five numbers of connections: tables beyond the first may be closed."""
    loads = [msgspec.structs.replace(LOAD, connections=number) for number in (1, 8, 64, 256, 1024)]
    rates = {"go": 20_000.0, "node": 15_000.0, "tornado": 3_000.0}
    runs = [each for load in loads for name, rate in rates.items() for each in studied.rounds(name, rate, load=load)]
    return rendered((plan(runs), FINGERPRINT, runs))
