"""A server that runs already: only load and latency, in rounds, so that the rate has an interval."""

from __future__ import annotations

import contextlib
from collections import Counter

import msgspec

from webdyno.analyse import words
from webdyno.analyse.estimate import fit
from webdyno.histogram import merge
from webdyno.load.driver import Order, Tls, Way
from webdyno.model.errors import UsageError
from webdyno.model.estimate import Estimate
from webdyno.model.load import Load
from webdyno.model.secret import asked, hidden_line
from webdyno.model.workload import Request
from webdyno.rig.cores import usable_cores
from webdyno.serve.ask import NoAnswer
from webdyno.session.ceilings import known_ceiling
from webdyno.session.engine import Loaded, carry_out
from webdyno.session.folders import cache_folder
from webdyno.session.load_doubts import closed, doubts, over_rounds
from webdyno.session.odd_answers import judged
from webdyno.session.saying import note, say
from webdyno.session.target import Target

ROUNDS = 5
LEAST_S, MOST_S = 0.5, 10.0
WARMUP_S = 0.5


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """``--json``."""

    url: str
    asked: list[str]
    connections: int
    rounds: int
    seconds_each: float
    rate: Estimate | None
    p50_ns: float | None
    p99_ns: float | None
    max_ns: float | None
    errors: dict[str, int]
    doubts: list[str]


def seconds_each(budget_s: float) -> float | None:
    """Of each round; None where the budget is too short for this many of them."""
    each_s = min(budget_s / ROUNDS - WARMUP_S, MOST_S)
    return each_s if each_s >= LEAST_S else None


def load_url(
    url: str, target: Target, requests: list[Request], connections: int, each_s: float, *, is_unsaid: bool
) -> Told:
    """Load ``target`` in rounds of this many seconds. ``is_unsaid``: no correct answer was defined. UsageError."""
    order = Order(
        host=target.host,
        port=target.port,
        requests=requests,
        load=Load(connections=connections, duration_s=each_s, warmup_s=WARMUP_S),
        cores=tuple(usable_cores()),
        way=Way(tls=Tls()) if target.tls else Way(),
    )
    if is_unsaid and not target.tls:
        _judge(order)
    say(f"{hidden_line(url)}: {ROUNDS} rounds of {each_s:g} s, {words.count(connections, 'client')}")
    loads = [carry_out(order, lambda _: None) for _ in range(ROUNDS)]
    return _told(url, order, loads, each_s)


def _judge(order: Order) -> None:
    """UsageError for a first answer that is hardly meant; one that does not come is the load's to tell."""
    for request in order.requests:
        with contextlib.suppress(NoAnswer):
            for status, sentence in judged(order.host, order.port, [request], None):
                if status >= 300:
                    raise UsageError(sentence)
                note([sentence])


def _told(url: str, order: Order, loads: list[Loaded], each_s: float) -> Told:
    rates = fit({("url", round_): load.per_s for round_, load in enumerate(loads, 1) if load.ok})
    texts = [text for load in loads for each in load.steady if (text := each.response_hdr or each.latency_hdr)]
    response = merge(texts)
    ceiling_per_s = known_ceiling(cache_folder(), order)
    found = [[*doubts(load, ceiling_per_s), *closed(order.load)] for load in loads]
    return Told(
        url=hidden_line(url),
        asked=[asked(request) for request in order.requests],
        connections=order.load.connections,
        rounds=len(loads),
        seconds_each=each_s,
        rate=None if rates is None else rates.estimate("url", "per_s"),
        p50_ns=None if response is None else response.percentile(50),
        p99_ns=None if response is None else response.percentile(99),
        max_ns=None if response is None else response.max,
        errors=dict(sum((Counter(load.errors) for load in loads), Counter())),
        doubts=over_rounds(found),
    )
