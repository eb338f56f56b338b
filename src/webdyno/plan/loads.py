"""Loads of a study: each of its templates at each number of connections and each rate, and whom it asks."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from itertools import product

from webdyno.model.load import Load
from webdyno.model.study import Study, StudyLoad


def driven(study: Study, workload: str | None = None, contender: str | None = None) -> list[tuple[Load, str]]:
    """Every Load of the study (for ``workload``, for ``contender``) with its driver; one that several templates lead to
    is there once."""
    templates = [each for each in study.loads if asks(each.workloads, workload) and asks(each.contenders, contender)]
    by_template = ((template, template.driver or study.driver) for template in templates)
    each = ((load, driver) for template, driver in by_template for load in loads_from(template, study.seed, driver))
    return list(dict.fromkeys(each))


def loads_of(study: Study) -> list[Load]:
    """Every Load of the study."""
    return [load for load, _ in driven(study)]


def drivers_of(study: Study) -> list[str]:
    """Every driver of the study, each once."""
    return list(dict.fromkeys(driver for _, driver in driven(study)))


def asks(only: Collection[str], name: str | None) -> bool:
    """Whether a load for ``only`` these names, or patterns, is for ``name``; without a name, for somebody."""
    return not only or name is None or any(fnmatchcase(name, each) for each in only)


def loads_from(template: StudyLoad, seed: int, driver: str) -> Iterator[Load]:
    """One for each number of connections and each rate."""
    rates: list[float | None] = [*template.rate_per_s] or [None]
    for connections, rate in product(template.connections, rates):
        yield Load(
            connections=connections,
            rate_per_s=rate,
            poisson=template.poisson,
            seed=seed if template.poisson else None,
            pair_every_s=template.pair_every_s,
            pair_apart_s=template.pair_apart_s,
            max_connections=_most(template, connections, is_open=rate is not None or template.pair_every_s is not None),
            duration_s=template.duration_s,
            count=template.count,
            warmup_s=template.warmup_s,
            # other tools open all connections at once, and cannot do otherwise
            opening_s=template.opening_s if driver == "engine" else 0.0,
            timeout_s=template.timeout_s,
            keep_alive=template.keep_alive,
            http=template.http,
            alone=template.alone,
            drivers=template.drivers,
        )


def _most(template: StudyLoad, connections: int, *, is_open: bool) -> int | None:
    """How far connections may grow: ten times as many where nothing is said; None at a closed load."""
    if not is_open:
        return None
    return 10 * connections if template.max_connections is None else template.max_connections
