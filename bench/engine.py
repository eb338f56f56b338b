"""Orders for our own engine, and its summary."""

from __future__ import annotations

import json
from typing import Any

_SECOND = 1_000_000_000
_HOUR = 3600 * _SECOND


def order(
    port: int, pace: dict[str, Any], *, seconds: float | None = None, count: int | None = None, **changes: Any
) -> dict[str, Any]:
    """A plain GET whose status and length are checked on every answer; ``changes`` replace whole keys."""
    expect = {"statuses": [200], "body_length": changes.pop("body_length", None)}
    return {
        "schema": 1,
        "target": {"host": "127.0.0.1", "port": port},
        "requests": [{"name": "get", "method": "GET", "path": "/", "headers": [["Accept", "*/*"]], "expect": expect}],
        "pace": pace,
        "duration_ns": None if seconds is None else int(seconds * _SECOND),
        "count": count,
        "warmup_ns": 0,
        "timeout_ns": _HOUR,
        "connect_timeout_ns": 20 * _SECOND,
        "keep_alive": True,
        "http": "1.1",
        "threads": 1,
        "cpus": [],
        "slice_ns": _SECOND,
    } | changes


def closed(connections: int) -> dict[str, Any]:
    """The pace of n clients that each wait for their answer."""
    return {"kind": "closed", "connections": connections}


def driven_by(backend: str) -> dict[str, Any]:
    """What an order says to have this back end; epoll is what it has when it says nothing."""
    return {} if backend == "epoll" else {"schema": 3, "backend": backend}


def last_line(text: str) -> dict[str, Any]:
    """The summary, or the fault that stands instead of it."""
    lines = [line for line in text.splitlines() if line.strip()]
    said = json.loads(lines[-1]) if lines else {}
    if not isinstance(said, dict) or said.get("event") not in ("summary", "fault"):
        raise ValueError(f"the engine ended without a summary: {lines[-1][:200] if lines else 'it said nothing'}")
    return said
