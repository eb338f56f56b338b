"""Narrowing: a study with the values of its user's flags, or of its own brief version, instead of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import UsageError
from webdyno.model.pattern import is_pattern, matching, spelt_out
from webdyno.model.spelling import did_you_mean
from webdyno.model.study import Study, StudyLoad
from webdyno.plan.once import once


def narrow(
    study: Study,
    catalogue: Catalogue,
    *,
    contenders: list[str] | None = None,
    workloads: list[str] | None = None,
    connections: list[int] | None = None,
    duration_s: float | None = None,
    drivers: int | None = None,
    say: Callable[[str], object] = lambda _: None,
    **changes: Any,
) -> Study:
    """The study as the user changed it; what is None stays as the study says. ``changes`` replace other fields.

    ``contenders`` may be any of the catalogue: asking a study's question of a newcomer is the commonest use. Loads that
    have become the same by these changes are asked once, and ``say`` gets the sentence about them.
    """
    if workloads is not None:
        workloads = _known(workloads, catalogue.workloads, "workload")
    study = _asking(study, workloads)
    loads = [_narrow_load(load, contenders, connections, duration_s) for load in study.loads]
    if changes.get("driver") is not None:  # one driver for all
        loads = [msgspec.structs.replace(load, driver=None) for load in loads]
    if drivers is not None:
        loads = [msgspec.structs.replace(load, drivers=drivers) for load in loads]
    narrowed = msgspec.structs.replace(
        study,
        contenders=study.contenders if contenders is None else contenders_called(contenders, catalogue),
        workloads=study.workloads if workloads is None else workloads,
        loads=loads,
        **{field: value for field, value in changes.items() if value is not None},
    )
    _refuse_unshared(narrowed)
    if narrowed.rounds < 1:
        raise UsageError(f"--rounds {narrowed.rounds}: a plan needs at least 1 round; 3 or more give an interval")
    single, faces = once(study, narrowed)
    if faces:
        say(f"several loads of the study have become equal, and are measured once: {'; '.join(faces)}")
    return single


def _refuse_unshared(study: Study) -> None:
    """UsageError where a load of several drivers is none for this many, or its driver cannot share it."""
    for load in study.loads:
        driver, most = load.driver or study.driver, min([*load.connections, load.count or load.connections[0]])
        if load.drivers > 1 and driver != "engine":
            raise UsageError(f"--drivers {load.drivers}: {driver} cannot share a load; use --driver engine")
        if load.drivers > 1 and load.pair_every_s is not None:
            raise UsageError(f"--drivers {load.drivers}: a load of pairs needs a single driver; leave out --drivers")
        if not 1 <= load.drivers <= most:
            raise UsageError(f"--drivers {load.drivers}: give 1 to {most}, because each has its own connection")


def _asking(study: Study, workloads: list[str] | None) -> Study:
    """The study with the loads that ask any of ``workloads``; UsageError where it has none."""
    if workloads is None:
        return study
    asked = [load for load in study.loads if not load.workloads or set(load.workloads) & set(workloads)]
    if study.loads and not asked:
        known = dict.fromkeys(name for load in study.loads for name in load.workloads)
        raise UsageError(f"no load of study {study.name!r} asks {', '.join(workloads)}; they ask {', '.join(known)}")
    return msgspec.structs.replace(study, loads=asked)


def contenders_called(wanted: list[str], catalogue: Catalogue) -> list[str]:
    """The contenders that the user named, patterns spelt out; UsageError for what is none."""
    for name in wanted:
        if is_pattern(name) and not matching(name, catalogue):
            raise UsageError(f"no contender matches {name!r}; see: webdyno list")
        if name in catalogue.excluded and name not in catalogue.contenders:
            raise UsageError(f"{name} is {catalogue.excluded[name]}")
    return _known(spelt_out(wanted, catalogue), catalogue.contenders, "contender")


def brief_of(study: Study) -> Study:
    """The study's own brief version: the same question and claims in minutes; UsageError when it has none."""
    if study.brief is None:
        raise UsageError(
            f"--brief: study {study.name!r} has no brief version; shorten it with --rounds, --connections, --duration"
        )
    own = {field: getattr(study.brief, field) for field in study.brief.__struct_fields__}
    return msgspec.structs.replace(study, **{field: value for field, value in own.items() if value})


def _known(wanted: list[str], known: Mapping[str, object], kind: str) -> list[str]:
    for name in wanted:
        if name not in known:
            hint = did_you_mean(name, known, f"see: webdyno list {kind}s")
            raise UsageError(f"there is no {kind} {name!r}; {hint}")
    return list(dict.fromkeys(wanted))


def _narrow_load(
    load: StudyLoad, contenders: list[str] | None, connections: list[int] | None, duration_s: float | None
) -> StudyLoad:
    if contenders is not None:  # whom the user names is asked everything
        load = msgspec.structs.replace(load, contenders=[])
    if connections is not None:
        most = load.max_connections if load.rate_per_s else None
        if above := [number for number in connections if most is not None and number > most]:
            raise UsageError(
                f"--connections {above[0]}: a load of the study opens at most max_connections = {most}; "
                "ask for no more, or raise it in the study's file"
            )
        load = msgspec.structs.replace(load, connections=connections)
    if duration_s is not None:
        if load.pair_every_s is not None and duration_s < load.pair_every_s:
            raise UsageError(
                f"--duration {duration_s:g}s: a load of the study asks a pair of requests each "
                f"{load.pair_every_s:g} s; give it as long as that, or leave its workloads out with -w"
            )
        load = msgspec.structs.replace(load, duration_s=duration_s, count=None)
    return load
