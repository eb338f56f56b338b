"""Warming: the load before anything counts, for as long as a contender is given, or until it gave its answers.

Answers are counted in stretches of load on one set of connections, for contenders that take turns and for those that
are measured alone: whether a server is warm must not depend on how it is measured afterwards. Who is measured alone has
a seat for it, and leaves that for its driver, which opens its connections anew and is given one stretch more.
"""

from __future__ import annotations

import threading
from dataclasses import replace

import msgspec

from webdyno.conduct.bench import Bench, Under
from webdyno.conduct.record import Record
from webdyno.conduct.seat import Seat
from webdyno.load.driver import Event, Order
from webdyno.model.block import Taken
from webdyno.model.load import Load
from webdyno.model.trial import LONGEST_WARM_UP, Trial

LEAST_WARM_S = 0.2
"""Of load before anything counts; it also says how long a turn has to be."""
STRETCHES = 10
"""A warm-up that counts answers is looked at after each tenth of its seconds."""


def warm_up(seat: Seat, interrupted: threading.Event) -> None:
    """For as long as it is given; or, where its answers count, stretch by stretch until it gave enough of them and gets
    no faster. A server that was loaded before, for another round, has only to show the latter.
    """
    trial = seat.trial
    if trial.warmup_requests is None:
        seat.turn(max(trial.asked.warmup_s, LEAST_WARM_S), "warmup")
        return
    enough, stretch_s = 0 if seat.under.served.reused else trial.warmup_requests, _stretch_s(trial.asked)
    # a wait for the last answers of stretches takes its time, too
    latest_s = (LONGEST_WARM_UP * STRETCHES - 0.5) * stretch_s
    while not (seat.is_out or seat.is_warm(enough) or interrupted.is_set()) and seat.warmed_s < latest_s:
        seat.turn(stretch_s, "warmup")


def warmed(trial: Trial, bench: Bench, order: Order, under: Under, record: Record) -> Order:
    """What is left of ``order`` once its contender is warm: a warm-up of one stretch, and all that counts.

    The stretches are in the record, and told to listeners as any other seconds of warm-up.
    """

    def watch(event: Event | Taken) -> None:
        bench.watch(event.slice if isinstance(event, Taken) else event)

    with Seat.taken(trial, replace(bench, watch=watch), order, under, record, under.fence.look_again) as seat:
        warm_up(seat, bench.interrupted)
    record.summary = {}  # is to be that of what counts
    load = order.load
    left_s = min(load.warmup_s, max(_stretch_s(load), load.opening_s))
    return msgspec.structs.replace(order, load=msgspec.structs.replace(load, warmup_s=left_s))


def _stretch_s(load: Load) -> float:
    return max(load.warmup_s / STRETCHES, LEAST_WARM_S)
