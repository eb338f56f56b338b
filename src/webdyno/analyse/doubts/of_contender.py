"""The part of the table of doubts that asks of one contender how it serves, which its figures then pay for."""

from __future__ import annotations

from webdyno.analyse.doubts import connections, fairness, idle, interpreter, leaks, physics, pools, processes, throttled
from webdyno.analyse.doubts.row import EACH, SHADES, Row, Threshold

CONTENDER: tuple[Row, ...] = (
    Row(
        "closes-connections",
        "contender",
        SHADES,
        connections.closes_connections,
        advice=(connections.CLOSES_CONNECTIONS_ADVICE,),
        numbers=("requests_per_connection", "announced", "silent"),
        limits=(Threshold("CLOSING_BELOW", connections.CLOSING_BELOW, "requests per connection"),),
    ),
    Row(
        "silent-close",
        "contender",
        SHADES,
        connections.silent_close,
        advice=(connections.SILENT_CLOSE_ADVICE,),
        numbers=("silent", "retries", "answers"),
        limits=(Threshold("SILENT", connections.SILENT, "silent closes per answer"),),
    ),
    Row(
        "http-1.0",
        "contender",
        SHADES,
        connections.http_1_0,
        advice=(connections.HTTP_1_0_ADVICE,),
        numbers=("http10_answers",),
    ),
    Row(
        "delayed-ack",
        "contender",
        SHADES,
        physics.delayed_ack,
        advice=(physics.DELAYED_ACK_ADVICE,),
        numbers=("p50_ns", "cpu_share"),
        limits=(
            Threshold("IDLE", physics.IDLE, "of its cores used, silent from there on"),
            Threshold("PLATEAU_NS", physics.PLATEAU_NS, "ns at p50"),
        ),
    ),
    Row(
        "idle-while-slow",
        "contender",
        SHADES,
        idle.idle_while_slow,
        advice=(idle.IDLE_WHILE_SLOW_ADVICE,),
        numbers=("cores", "connections"),
        limits=(
            Threshold("IDLE_BELOW", idle.IDLE_BELOW, "of one core"),
            Threshold("CLIENTS", idle.CLIENTS, "clients for each core"),
            Threshold("TAKEN", idle.TAKEN, "cores that others used, silent from there on"),
        ),
    ),
    Row(
        "pool-limited",
        "contender",
        SHADES,
        pools.pool_limited,
        advice=(pools.POOL_LIMITED_ADVICE,),
        numbers=("places", "connections"),
        limits=(
            Threshold("NEAR", pools.NEAR, "of the rate that its places allow, from there on"),
            Threshold("ABOVE", pools.ABOVE, "of that rate, up to there"),
        ),
    ),
    Row(
        "uneven-accept",
        "contender",
        SHADES,
        processes.uneven_accept,
        advice=(processes.UNEVEN_ACCEPT_ADVICE,),
        numbers=("largest_share", "workers"),
    ),
    Row(
        "throttled",
        "contender",
        SHADES,
        throttled.throttled,
        advice=(throttled.THROTTLED_ADVICE,),
        numbers=("throttled",),
        limits=(Threshold("THROTTLED", throttled.THROTTLED, "of the time"),),
    ),
    Row(
        "memory-capped",
        "contender",
        SHADES,
        processes.memory_capped,
        advice=(processes.MEMORY_CAPPED_ADVICE,),
        numbers=("peak_bytes", "limit_bytes", "killed", "swapped_bytes"),
        limits=(
            Threshold("SWAPPED_BYTES", processes.SWAPPED_BYTES, "bytes in swap"),
            Threshold("NEAR_LIMIT", processes.NEAR_LIMIT, "of the memory limit"),
        ),
    ),
    Row(
        "leaks",
        "contender",
        SHADES,
        leaks.leaks,
        advice=(leaks.LEAKS_ADVICE,),
        numbers=("bytes_per_request", "grown_bytes", "rounds"),
    ),
    Row(
        "small-backlog",
        "contender",
        SHADES,
        connections.small_backlog,
        advice=(connections.SMALL_BACKLOG_ADVICE,),
        numbers=("backlog", "connections", "asked"),
    ),
    Row(
        "gil-on",
        "contender",
        SHADES,
        interpreter.gil_on,
        advice=(interpreter.GIL_ON_ADVICE,),
        numbers=("modules", "rounds"),
    ),
    Row(
        "versions-differ",
        "contender",
        SHADES,
        fairness.versions_differ,
        advice=(fairness.VERSIONS_DIFFER_ADVICE,),
        numbers=(EACH,),
    ),
)
