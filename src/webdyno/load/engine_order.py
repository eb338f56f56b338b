"""From an Order to the JSON order of our own engine (docs/reference/engine-protocol.md).

Written in the oldest schema that knows all of its keys: 1 for a closed load, 2 for an open one, 3 for what came with
the other protocols. So an engine is asked for no more than it has to know.
"""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import msgspec

from webdyno.load.order import Order, Way
from webdyno.model.errors import UsageError
from webdyno.model.load import Load, Stage
from webdyno.model.workload import Expectation, Request

_SLICE_NS = 1_000_000_000


def engine_order(order: Order) -> dict[str, Any]:
    """The order as the engine reads it; UsageError for an answer that cannot be judged under load."""
    load = order.load
    timeout_ns = _ns(load.timeout_s)
    connect_timeout_ns = timeout_ns if order.connect_timeout_s is None else _ns(order.connect_timeout_s)
    newer = _newer(order)
    target = {"host": order.host, "port": order.port}
    return {
        "schema": 3 if newer or _speaks_newer(order) else 2 if load.is_open else 1,
        "target": target if order.way.unix is None else target | {"unix": order.way.unix},
        "requests": [_request(request, order.way.template) for request in order.requests],
        "pace": _pace(load),
        "duration_ns": None if load.duration_s is None else _ns(load.duration_s),
        "count": load.count,
        "warmup_ns": _ns(load.warmup_s),
        "timeout_ns": timeout_ns,
        "connect_timeout_ns": connect_timeout_ns,
        "keep_alive": load.keep_alive,
        "http": load.http,
        "threads": 1 if load.pace == "pairs" else order.most_threads,  # threads would each begin with the first
        "cpus": list(order.cores),
        "slice_ns": _SLICE_NS,
        **newer,
    }


def _speaks_newer(order: Order) -> bool:
    """Whether older keys hold what only schema 3 knows."""
    way, load = order.way, order.load
    return way.unix is not None or way.template or load.http == "2" or bool(load.connection_stages)


def _newer(order: Order) -> dict[str, Any]:
    """The keys of schema 3, as far as they say something else than what holds without them."""
    load, way, plain = order.load, order.way, Way()
    keys: dict[str, Any] = {}
    if way.sources:
        keys["sources"] = list(way.sources)
    if way.linger != plain.linger:
        keys["linger"] = way.linger
    if way.backend != plain.backend:
        keys["backend"] = way.backend
    if load.pipeline > 1:
        keys["pipeline"] = load.pipeline
    if load.streams > 1:
        keys["streams"] = load.streams
    if way.tls is not None:
        keys["tls"] = msgspec.structs.asdict(way.tls)
    if way.template:
        keys["seed"] = way.template_seed
    if load.drain_s:
        keys["drain_ns"] = _ns(load.drain_s)
    if load.opening_s:
        keys["opening_ns"] = _ns(load.opening_s)
    return keys


def _pace(load: Load) -> dict[str, Any]:
    pool = {"connections": load.connections, "max_connections": load.max_connections}
    match load.pace:
        case "closed":
            return {"kind": "closed", "connections": load.connections}
        case "closed-stages":
            stages = [_stage(stage, "connections", int) for stage in load.connection_stages]
            return {"kind": "closed-stages", "stages": stages}
        case "stages":
            stages = [_stage(stage, "rate_per_s", float) for stage in load.rate_stages]
            return {"kind": "stages", "stages": stages, **pool}
        case "burst":
            return {"kind": "burst", "size": load.burst_size, "every_ns": _ns(load.burst_every_s or 0.0), **pool}
        case "pairs":
            stages = [_stage(stage, "rate_per_s", float) for stage in _pairs(load)]
            return {"kind": "stages", "stages": stages, **pool}
        case "poisson":
            return {"kind": "poisson", "rate_per_s": load.rate_per_s, "seed": load.seed, **pool}
        case "constant":
            return {"kind": "constant", "rate_per_s": load.rate_per_s, **pool}


def _pairs(load: Load) -> list[Stage]:
    """Pairs as stages: the n-th request is due when the area under them is n, so each has an area of one. The last has
    less, or one more request could be due at the very end.
    """
    apart_s, every_s = load.pair_apart_s or 0.0, load.pair_every_s or 0.0
    gaps = [(apart_s, 1.0), (every_s - apart_s, 1.0)] * load.pairs
    spare_s = (load.duration_s or 0.0) - load.pairs * every_s
    gaps[-1] = (every_s - apart_s + spare_s, 0.5)
    return [Stage(duration_s=gap_s, first=area / gap_s, last=area / gap_s) for gap_s, area in gaps]


def _stage(stage: Stage, of: str, kind: type[int] | type[float]) -> dict[str, Any]:
    return {
        "duration_ns": _ns(stage.duration_s),
        f"{of}_from": kind(stage.first),
        f"{of}_to": kind(stage.last),
    }


def _request(request: Request, template: bool) -> dict[str, Any]:
    body = None if request.body is None else base64.b64encode(request.body.encode()).decode()
    written = {
        "name": request.name,
        "method": request.method,
        "path": request.path,
        "headers": [list(header) for header in request.headers],
        "body_base64": body,
        "weight": request.weight,
        "expect": _expect(request.name, request.expect),
    }
    return written | {"template": True} if template else written


def _expect(name: str, expect: Expectation) -> dict[str, Any]:
    """Exact text becomes length and digest: the engine then never needs the whole answer in memory."""
    digest, length = expect.body_sha256, expect.body_length
    if expect.body is not None:
        exact = expect.body.encode()
        digest, length = hashlib.sha256(exact).hexdigest(), len(exact)
    if expect.json_equals is not None and digest is None:
        raise UsageError(
            f"request {name!r} expects a JSON value, which cannot be compared under load: "
            "verify the answer first, its exact bytes are the rule then"
        )
    return {
        "statuses": expect.statuses,
        "body_sha256": digest,
        "body_length": length,
        "body_contains": expect.body_contains,
        "content_type": expect.content_type,
    }


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)
