"""A made-up study with all that a study can show: claims, an original, two drivers, curves, thirds, routes, facets."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
import numpy as np

from tests.analyse.fakes import FINGERPRINT, LOAD, change_slices, contender, histogram, plan, run, slices, workload
from webdyno.model.claim import Claim, Original, OriginalFigure
from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.sample import Route
from webdyno.model.trial import Plan, Skipped
from webdyno.model.workload import Request

MIX = workload("mix", requests=[Request(name="instant", path="/"), Request(name="blocking", path="/slow")])
CLAIMS = [
    Claim(text="go is ahead of <b>all</b>", contenders=["go"], relation="highest", workload="hello"),
    Claim(
        text="node is ahead of go",
        contenders=["node"],
        relation="more than",
        than=["go"],
        workload="hello",
        quote="node | <i>flies</i>",
    ),
    Claim(text="ruby is the last", contenders=["ruby"], relation="more than", than=["go"], workload="hello", ours=True),
]
ORIGINAL = Original(
    source="An article | of old",
    year=2013,
    baseline="node",
    cores=4,
    figures=[
        OriginalFigure(contender="node", workload="hello", connections=64, value=6_900, as_named="Node 0.10"),
        OriginalFigure(contender="go", workload="hello", connections=64, value=66_000, as_named="Go 1.1"),
        OriginalFigure(contender="ruby", workload="hello", connections=64, value=7_900, as_named="EventMachine"),
    ],
)


def rounds(name: str, rate: float, **changes: Any) -> list[Run]:
    made = []
    for at, noise in enumerate((1.0, 1.02, 0.98), 1):
        took = np.full(200, 1e9 / rate * noise)
        one = run(name, rate=rate * noise, round_=at, latency_ns=took, **changes)
        made.append(msgspec.structs.replace(one, slices=slices([rate * noise] * 3, took)))
    return made


def study(**changes: Any) -> tuple[Plan, Fingerprint, list[Run]]:
    """go and node, by the engine at two numbers of connections and by ab at one, and a workload of two routes."""
    more = msgspec.structs.replace(LOAD, connections=512)
    parts = [
        Route(name=name, offered=9, ok=9, errors={}, bytes_in=0, latency_hdr=histogram(np.full(9, ns)))
        for name, ns in (("instant", 2e6), ("blocking", 1e9))
    ]
    runs = [
        *rounds("go", 50_000),
        *rounds("node", 10_000),
        *rounds("go", 45_000, load=more),
        *rounds("node", 8_000, load=more),
        *rounds("go", 20_000, driver="ab"),
        *rounds("node", 9_000, driver="ab"),
        *[change_slices(each, routes=parts) for each in rounds("go", 18, workload="mix")],
    ]
    made = plan(
        runs,
        study="made-up",
        shows=["p99", "errors", "memory", "iterations"],
        claims=CLAIMS,
        original=ORIGINAL,
        workloads={"hello": workload("hello"), "mix": MIX},
        skipped=[Skipped(contender="ruby", reason="needs ruby, which is not installed")],
    )
    return msgspec.structs.replace(made, **changes), FINGERPRINT, runs


@cache
def faceted() -> tuple[Plan, Fingerprint, list[Run]]:
    """Two servers on two interpreters at two numbers of connections."""
    more = msgspec.structs.replace(LOAD, connections=512)
    rates = {"x-a-cpython": 100.0, "x-a-pypy": 250.0, "x-b-cpython": 90.0, "x-b-pypy": 120.0}
    runs = [each for name, rate in rates.items() for load in (LOAD, more) for each in rounds(name, rate, load=load)]
    named = {name: contender(name, server=name.split("-")[1], runtime=name.split("-")[2]) for name in rates}
    return plan(runs, shows=["errors", "iterations"], contenders=named), FINGERPRINT, runs
