"""Why not to trust the figures of one load, a sentence each. Said under every result, in every form that has room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from webdyno.analyse.doubts import sentences
from webdyno.analyse.doubts.connections import CLOSING_BELOW
from webdyno.analyse.doubts.driver import NEAR_CEILING
from webdyno.analyse.doubts.schedule import LATE
from webdyno.analyse.doubts.windows import HIDDEN
from webdyno.analyse.error_share import error_share
from webdyno.analyse.generator import Strain, engine_strain
from webdyno.analyse.objectives import Course
from webdyno.analyse.patience import CYCLES, least_rate_per_s, outlasted
from webdyno.analyse.shares import doubts_of
from webdyno.analyse.unanswered import older_than, silence
from webdyno.analyse.words import length
from webdyno.conduct.together import GONE
from webdyno.model.load import Load
from webdyno.rig.sleep import LEAST_NS
from webdyno.session.engine import Loaded

_WHO = "the server"


def doubts(loaded: Loaded, ceiling_per_s: float | None = None) -> list[str]:
    """Every doubt about it, the gravest first; ``ceiling_per_s`` is the most this machine's engine has reached.

    What holds for every load of its kind is not a doubt: its title says that it is closed, and a single run.
    """
    return [
        *_of_the_end(loaded),
        *_of_the_generator(loaded, ceiling_per_s),
        *_of_the_drivers(loaded),
        *_of_the_schedule(loaded),
        *_of_the_connections(loaded),
        *_of_the_length(loaded),
    ]


def over_rounds(each: Sequence[Sequence[str]]) -> list[str]:
    """One of every kind for the doubts about rounds that are alike: where numbers differ, that of its first round."""
    by_kind: dict[str, dict[int, str]] = {}
    for number, found in enumerate(each, start=1):
        for sentence in found:
            by_kind.setdefault(sentence.partition(":")[0], {}).setdefault(number, sentence)
    return [_over_rounds(rounds, len(each)) for rounds in by_kind.values()]


def _over_rounds(rounds: Mapping[int, str], all_: int) -> str:
    number, sentence = next(iter(rounds.items()))
    if len(set(rounds.values())) == 1:
        return sentence
    return f"{sentence} (round {number}; the same kind of doubt in {len(rounds)} of {all_} rounds)"


def _of_the_end(loaded: Loaded) -> Iterator[str]:
    if loaded.slept_ns >= LEAST_NS:
        slept = length(max(1.0, loaded.slept_ns / 1e9))
        yield f"slept: this machine was suspended for {slept} under the load, and its clock stood still; load again"
    match loaded.summary.get("ended"):
        case "interrupted":
            yield "interrupted: it was stopped before its end"
        case "abandoned":
            yield f"interrupted: {GONE}"
        case "unreachable":
            yield "unreachable: no connection was ever made"
    if loaded.summary.get("ended") != "unreachable" and (found := silence(loaded.slices)) is not None:
        yield f"hung: {found.sentence}"
    note = loaded.started.get("backend_note")
    if note:
        yield f"backend: {note}"


def _strain(loaded: Loaded) -> Strain:
    return engine_strain(loaded.summary, loaded.steady, loaded.order.load)


def _of_the_generator(loaded: Loaded, ceiling_per_s: float | None) -> Iterator[str]:
    found, load = _strain(loaded), loaded.order.load
    if found.limit == "starved":
        yield f"generator-bound: {sentences.starved_generator(_WHO, found.without_core or 0.0, load)}"
    elif found.limit == "busy":
        yield f"generator-bound: {sentences.busy(_WHO, found.busy or 0.0, load)}; give it more --threads"
    elif ceiling_per_s is not None and loaded.per_s >= NEAR_CEILING * ceiling_per_s:
        yield f"generator-bound: {sentences.near_ceiling(_WHO, loaded.per_s, ceiling_per_s, load)}"


def _of_the_drivers(loaded: Loaded) -> Iterator[str]:
    """Of several, each that has something to be doubted."""
    shares = loaded.shares
    for share in shares:
        for said in doubts_of(share, shares, loaded.order.load):
            yield f"{share.name}: it {said}"


def _of_the_schedule(loaded: Loaded) -> Iterator[str]:
    """At an open pace: was it really offered, and on time?

    What came due is what the engine booked as ``offered``, those that were never sent (``shed``) among them. What the
    schedule should make due on average is not: of n random arrivals, as many more or less as the root of n come due.
    """
    summary, load = loaded.summary, loaded.order.load
    course = Course(summary, loaded.slices, load)
    if course.is_short and summary.get("ended") in ("duration", "count"):
        if _strain(loaded).limit:
            yield f"not-offered: {sentences.not_sent(_WHO, course.sent_share)}"
        else:
            yield f"not-offered: {sentences.not_offered(_WHO, course.sent_share)}; give more --max-connections"
    lag, response = summary.get("lag_ns"), summary.get("response_ns")
    if lag and response and lag["p99"] > LATE * response["p99"]:
        yield f"schedule-lag: {sentences.late(_WHO, lag['p99'], response['p99'])}"


def _of_the_connections(loaded: Loaded) -> Iterator[str]:
    summary, load = loaded.summary, loaded.order.load
    answers, opened = summary["offered"], summary["connections_opened"]
    announced, silent = summary.get("closes_announced", 0), summary.get("closes_silent", 0)
    if load.keep_alive and opened and announced + silent and answers / opened < CLOSING_BELOW:
        yield f"closes-connections: {sentences.closes(_WHO, answers / opened, quietly=silent > announced)}"
    if load.http == "1.1" and summary["http10_answers"]:
        yield f"http-1.0: {sentences.http_1_0(_WHO, 'servers of HTTP/1.1')}"
    if summary["connections_unanswered"]:
        most = load.max_connections or load.connections
        yield f"starved-connections: {sentences.starved(_WHO, summary['connections_unanswered'], most)}"


def _of_the_length(loaded: Loaded) -> Iterator[str]:
    """At a closed pace: was it long enough for each of its clients, and for a request that hangs to be an error?"""
    load, summary = loaded.order.load, loaded.summary
    each = summary["ok"] / load.connections
    if least_rate_per_s(load) is not None and each < CYCLES:
        yield f"few-cycles: {sentences.few_cycles(_WHO, each, load.connections)}; give it a longer --duration"
    latency = summary.get("latency_ns")
    left = older_than(loaded.steady, latency["p99"]) if latency else 0
    if outlasted(load) and _hidden(loaded, left) >= HIDDEN:
        said = sentences.short_window(_WHO, left, load)
        yield f"short-window: {said}; give it a longer --duration, or a shorter --timeout"


def _hidden(loaded: Loaded, left: int) -> float:
    """By how much the error rate would be higher, had these failed."""
    errors, ok = loaded.summary["errors"], loaded.summary["ok"]
    return error_share(errors, ok, left) - error_share(errors, ok)


def closed(load: Load) -> list[str]:
    """What latencies of a closed load are; nothing of an open one."""
    if load.is_open:
        return []
    who = "1 client that waits" if load.connections == 1 else f"{load.connections} clients that wait"
    return [f"closed: latencies are those of {who} for an answer before the next; --rate shows what users would wait"]
