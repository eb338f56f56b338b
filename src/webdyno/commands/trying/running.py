"""``--url``: a server that runs already; only load and latency, in rounds, so that the rate has an interval."""

from __future__ import annotations

import contextlib

import msgspec

from webdyno.analyse import words
from webdyno.analyse.estimate import fit
from webdyno.commands.loading.doubts import doubts
from webdyno.commands.loading.targets import Asking
from webdyno.commands.options import say_json
from webdyno.commands.trying.asking import AppAsking
from webdyno.commands.trying.first import ANSWER_S
from webdyno.commands.trying.flags import Trying
from webdyno.commands.trying.sitting import say
from webdyno.histogram import merge
from webdyno.load.driver import Order, Tls, Way
from webdyno.model.errors import UsageError
from webdyno.model.estimate import Estimate
from webdyno.model.load import Load
from webdyno.rig.cores import usable_cores
from webdyno.serve.ask import NoAnswer, ask
from webdyno.serve.first_answer import first_answer
from webdyno.session.ceilings import known_ceiling
from webdyno.session.engine import Loaded, carry_out
from webdyno.session.folders import cache_folder
from webdyno.session.target import Target, one_server

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


def try_url(url: str, asking: AppAsking, flags: Trying) -> int:
    """Load it and say how it answered; exit code 1 when not one request was answered rightly."""
    if flags.save is not None or flags.servers is not None or flags.variables or flags.python is not None:
        raise UsageError(
            "--url goes with --path, -H, -m, -b, --expect, -c, --budget and --json: the server is not ours"
        )
    if asking.openapi:
        raise UsageError("--openapi goes with an application; name the paths of a server that runs with --path")
    targets = _targets(url, asking)
    requests = Asking(method=asking.method, header=asking.header, body=asking.body, expect=asking.expect).requests(
        targets
    )
    each_s = min(flags.budget_s / ROUNDS - WARMUP_S, MOST_S)
    if each_s < LEAST_S:
        raise UsageError(f"--budget {flags.budget}: {ROUNDS} rounds take {ROUNDS * (WARMUP_S + LEAST_S):g} s at least")
    first = targets[0]
    order = Order(
        host=first.host,
        port=first.port,
        requests=requests,
        load=Load(connections=flags.connections, duration_s=each_s, warmup_s=WARMUP_S),
        cores=tuple(usable_cores()),
        way=Way(tls=Tls()) if first.tls else Way(),
    )
    if asking.expect is None and not first.tls:
        _judge(order)
    say(f"{url}: {ROUNDS} rounds of {each_s:g} s, {words.count(flags.connections, 'client')}")
    loads = [carry_out(order, lambda _: None) for _ in range(ROUNDS)]
    told = _told(url, order, loads, each_s)
    if flags.json:
        say_json(told)
    else:
        _tell(told)
    return 0 if any(load.ok for load in loads) else 1


def _judge(order: Order) -> None:
    """UsageError for a first answer that is hardly meant; one that does not come is the load's to tell."""
    for request in order.requests:
        with contextlib.suppress(NoAnswer):
            answer = ask(order.host, order.port, request, ANSWER_S, lambda: None)
            said = first_answer(answer.status, answer.headers, answer.body)
            if said is not None and answer.status >= 300:
                raise UsageError(f"{request.method} {request.path}: {said}")
            if said is not None:
                say(f"note: {request.method} {request.path}: {said}")


def _targets(url: str, asking: AppAsking) -> list[Target]:
    """The URL itself, or the paths of --path below it."""
    if not asking.path:
        return one_server((url,))
    base = url.rstrip("/")
    urls = []
    for text in asking.path:
        weight, _, path = text.partition("=/") if text[:1].isdecimal() else ("", "", text.lstrip("/"))
        if not text.startswith("/") and not weight.isdecimal():
            raise UsageError(
                f"--path {text}: a path begins with a slash, as in --path /api/items or --path 3=/api/items"
            )
        urls.append(f"{weight}={base}/{path}" if weight else f"{base}/{path}")
    return one_server(tuple(urls))


def _told(url: str, order: Order, loads: list[Loaded], each_s: float) -> Told:
    rates = fit({("url", round_): load.per_s for round_, load in enumerate(loads, 1) if load.ok})
    texts = [text for load in loads for each in load.steady if (text := each.response_hdr or each.latency_hdr)]
    response = merge(texts)
    errors: dict[str, int] = {}
    for load in loads:
        for kind, number in load.errors.items():
            errors[kind] = errors.get(kind, 0) + number
    found = [doubt for load in loads for doubt in doubts(load, known_ceiling(cache_folder(), order))]
    return Told(
        url=url,
        asked=[f"{request.method} {request.path}" for request in order.requests],
        connections=order.load.connections,
        rounds=len(loads),
        seconds_each=each_s,
        rate=None if rates is None else rates.estimate("url", "per_s"),
        p50_ns=None if response is None else response.percentile(50),
        p99_ns=None if response is None else response.percentile(99),
        max_ns=None if response is None else response.max,
        errors=errors,
        doubts=list(dict.fromkeys(doubt for doubt in found if "one run has no interval" not in doubt)),
    )


def _tell(told: Told) -> None:
    if told.rate is None or told.p99_ns is None or told.p50_ns is None:
        print(f"{told.url}: not one request was answered rightly ({told.errors or 'no answer'})")
        return
    errors = words.listing([f"{count} {kind}" for kind, count in told.errors.items()]) or "no errors"
    print(
        f"{told.url}: {words.with_interval(told.rate, 'requests/s')} with {words.count(told.connections, 'client')}; "
        f"p50 {words.time_ns(told.p50_ns)}, p99 {words.time_ns(told.p99_ns)}; {errors}"
    )
    for doubt in told.doubts:
        print(f"  doubt: {doubt}")
