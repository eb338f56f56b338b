"""What a type cannot say about a load of pairs: how its times fit together, and the workloads that are two requests."""

from __future__ import annotations

from collections.abc import Iterator

from webdyno.model.catalogue import Catalogue
from webdyno.model.study import Study, StudyLoad
from webdyno.read.lines import Key

Fault = tuple[Key, str]


def pairs_faults(it: StudyLoad) -> Iterator[Fault]:
    """Faults of a load of pairs by itself; none of any other load."""
    if it.pair_every_s is None and it.pair_apart_s is None:
        return
    if it.pair_every_s is None or it.pair_apart_s is None:
        yield (), "pair_every_s and pair_apart_s need each other: every how many seconds, and how far apart"
        return
    if not 0 < it.pair_apart_s < it.pair_every_s:
        yield (
            ("pair_apart_s",),
            f"must be above 0 and below pair_every_s, which is {it.pair_every_s:g}, but is {it.pair_apart_s:g}",
        )
    if it.rate_per_s:
        yield ("pair_every_s",), "is a schedule of its own; remove it, or rate_per_s"
    if it.warmup_s:
        yield ("warmup_s",), f"must be 0 with pairs, which have no warm-up, but is {it.warmup_s:g}"
    if it.duration_s is None or it.duration_s < it.pair_every_s:
        yield ("pair_every_s",), "needs a duration_s with room for at least one pair"


def paired_workloads_faults(key: Key, loads: list[StudyLoad], study: Study, catalogue: Catalogue) -> Iterator[Fault]:
    """Faults of what is asked in pairs: every workload of such a load has two requests of the same weight."""
    for at, load in enumerate(loads):
        for name in (load.workloads or study.workloads) if load.pair_every_s is not None else ():
            known = catalogue.workloads.get(name)
            if known is not None and [request.weight for request in known.requests] != [1, 1]:
                yield (
                    (*key, at, "workloads" if load.workloads else "pair_every_s"),
                    f'asks pairs of "{name}", which has {len(known.requests)} request(s); a pair is a workload of two, '
                    "each of weight 1",
                )
