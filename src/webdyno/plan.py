"""Plan: from a Study and the catalogue to the ordered Trials. Pure: the same seed gives the same order everywhere.

In which order, and why, is the matter of ``design/``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from webdyno.design.grid import cell_by_cell, in_rounds
from webdyno.design.length import expected_s
from webdyno.model.block import Turns
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import UsageError
from webdyno.model.load import Load
from webdyno.model.pattern import is_pattern, matching, spelt_out
from webdyno.model.service import Service
from webdyno.model.spelling import did_you_mean
from webdyno.model.study import Study, StudyLoad
from webdyno.model.trial import Plan, Skipped, Trial, trial_id
from webdyno.model.workload import Workload


def narrow(
    study: Study,
    catalogue: Catalogue,
    *,
    contenders: list[str] | None = None,
    workloads: list[str] | None = None,
    connections: list[int] | None = None,
    duration_s: float | None = None,
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
    narrowed = msgspec.structs.replace(
        study,
        contenders=study.contenders if contenders is None else contenders_called(contenders, catalogue),
        workloads=study.workloads if workloads is None else workloads,
        loads=loads,
        **{field: value for field, value in changes.items() if value is not None},
    )
    if narrowed.rounds < 1:
        raise UsageError(f"--rounds {narrowed.rounds}: a plan needs at least 1 round; 3 or more give an interval")
    once, faces = _once(study, narrowed)
    if faces:
        say(f"several loads of the study have become the same, and are asked once: {'; '.join(faces)}")
    return once


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


class _One(NamedTuple):
    """A load of a narrowed study at one number of connections and one rate."""

    was: StudyLoad
    """The load of the study it comes from."""
    load: StudyLoad
    face: str
    """What tables call it, with its driver: loads with the same face cannot be distinguished by who reads of them."""
    place: int


def _once(study: Study, narrowed: Study) -> tuple[Study, list[str]]:
    """``narrowed`` with what has become the same asked once, and the faces of that.

    Loads that have the same face in ``study`` are there on purpose, and stay. Of others the one stays that was written
    for the driver, or is nearest to the number of connections.
    """
    pairs = zip(study.loads, narrowed.loads, strict=True)
    ones = [_One(was, *one, place) for place, (was, now) in enumerate(pairs) for one in _singly(now, narrowed)]
    kept: list[_One] = []
    faces: list[str] = []
    for one in sorted(ones, key=lambda one: _foreign(one, study, narrowed)):
        left = [one.load]
        for other in (other for other in kept if other.face == one.face and not _on_purpose(one, other, study)):
            left = [part for load in left for part in _beside(load, other.load, narrowed)]
        if left != [one.load]:
            faces.append(one.face)
        kept += [one._replace(load=load) for load in left]
    if not faces:
        return narrowed, []
    in_order = [one.load for one in sorted(kept, key=lambda one: one.place)]
    return msgspec.structs.replace(narrowed, loads=in_order), sorted(set(faces))


def _singly(load: StudyLoad, study: Study) -> Iterator[tuple[StudyLoad, str]]:
    driver = load.driver or study.driver
    for connections, rate in product(load.connections, [[rate] for rate in load.rate_per_s] or [[]]):
        single = msgspec.structs.replace(load, connections=[connections], rate_per_s=rate)
        yield single, f"{next(_loads(single, study.seed, driver)).label}, by {driver}"


def _foreign(one: _One, study: Study, narrowed: Study) -> tuple[int, float]:
    """How far what is asked now is from what the load was written for: its driver, its connections."""
    asked, was = one.load.driver or narrowed.driver, one.was.driver or study.driver
    drivers = 0 if was == asked else 1 if was == study.driver else 2
    return drivers, min(abs(math.log(number / one.load.connections[0])) for number in one.was.connections)


def _on_purpose(one: _One, other: _One, study: Study) -> bool:
    """The study itself asks the same face by both of their loads."""
    faces, others = ({face for _, face in _singly(each.was, study)} for each in (one, other))
    return bool(faces & others) and _beside(one.was, other.was, study) != [one.was]


def _beside(load: StudyLoad, taken: StudyLoad, study: Study) -> list[StudyLoad]:
    """What ``load`` still asks of the study when ``taken`` asks its own part of it."""
    workloads, contenders = _asked_of(load, study)
    gone, also_gone = (set(names) for names in _asked_of(taken, study))
    if gone.isdisjoint(workloads) or also_gone.isdisjoint(contenders):
        return [load]
    others = [name for name in workloads if name not in gone]
    shared = [name for name in workloads if name in gone]
    rest = [name for name in contenders if name not in also_gone]
    parts = [msgspec.structs.replace(load, workloads=others)] * bool(others)
    return parts + [msgspec.structs.replace(load, workloads=shared, contenders=rest)] * bool(rest)


def _asked_of(load: StudyLoad, study: Study) -> tuple[list[str], list[str]]:
    """The workloads and contenders of the study that a load is for."""
    return [name for name in study.workloads if _asks(load.workloads, name)], [
        name for name in study.contenders if _asks(load.contenders, name)
    ]


def make_plan(
    study: Study,
    catalogue: Catalogue,
    missing: Mapping[str, str],
    lacking: Mapping[str, str] = MappingProxyType({}),
    absent: Mapping[str, str] = MappingProxyType({}),
    *,
    brief: bool = False,
) -> Plan:
    """The ordered Trials of ``study``.

    ``missing`` maps a contender that cannot be had here to the reason why, ``lacking`` does so for a workload whose
    service is not here, ``absent`` for a driver; ``brief`` notes that the study is the brief version of itself.

    Raises UsageError when nothing is left to measure.
    """
    names = [name for name in study.contenders if name not in missing]
    cells = list(_cells(study, catalogue, names))
    skipped = list(_skipped(study, missing, {cell.contender for cell in cells}, lacking))
    skipped += [Skipped(contender="", reason=absent[name], driver=name) for name in drivers_of(study) if name in absent]
    cells = [cell for cell in cells if cell.workload not in lacking and cell.driver not in absent]
    if not cells:
        reasons = "; ".join(f"{skip.what}: {skip.reason}" for skip in skipped)
        raise UsageError(f"study {study.name!r} has nothing left to measure ({reasons or 'no contenders'})")
    return _plan(study, catalogue, cells, skipped, lacking, brief=brief)


def _plan(
    study: Study,
    catalogue: Catalogue,
    cells: list[Cell],
    skipped: list[Skipped],
    left_out: Collection[str],
    *,
    brief: bool,
) -> Plan:
    """The cells in every round, and of the catalogue what they need; ``left_out`` are workloads."""
    busy = {cell.contender for cell in cells}
    used = [catalogue.contenders[name] for name in study.contenders if name in busy]
    workloads = {name: catalogue.workloads[name] for name in study.workloads if name not in left_out}
    plan = Plan(
        study=study.name,
        title=study.title,
        question=study.question,
        seed=study.seed,
        rounds=study.rounds,
        trials=_trials(study, catalogue, cells),
        skipped=skipped,
        contenders={contender.name: contender for contender in used},
        apps={contender.app: catalogue.apps[contender.app] for contender in used},
        runtimes={name: catalogue.runtimes[name] for contender in used for name in contender.runtimes},
        workloads=workloads,
        memory_bytes=memory_bytes(study),
        cores=study.cores,
        estimate=study.estimate,
        seconds=0.0,
        turns=None if study.alone or study.design == "in-place" else Turns(),
        in_place=study.design == "in-place",
        services=_services(catalogue, workloads),
        shows=[*study.shows],
        claims=study.claims,
        original=study.original,
        systems=study.systems,
        absent=study.absent,
        brief=brief,
    )
    return msgspec.structs.replace(plan, seconds=sum(expected_s(plan, trial) for trial in plan.trials))


def _services(catalogue: Catalogue, workloads: Mapping[str, Workload]) -> dict[str, Service]:
    """Those that the workloads need."""
    needed = dict.fromkeys(workload.service for workload in workloads.values() if workload.service)
    return {name: catalogue.services[name] for name in needed}


def _trials(study: Study, catalogue: Catalogue, cells: list[Cell]) -> list[Trial]:
    """The cells in every round, in the order of the study's design."""
    ordered = cell_by_cell if study.design == "in-place" else in_rounds
    return [_trial(catalogue, cell, round_) for round_, cell in ordered(cells, study.rounds, study.seed)]


def _skipped(
    study: Study,
    missing: Mapping[str, str],
    able: Collection[str],
    lacking: Mapping[str, str],
) -> Iterator[Skipped]:
    """One line for each contender that is not there or has nothing to do, and one for each reason of workloads."""
    yield from (Skipped(contender=name, reason=missing[name]) for name in study.contenders if name in missing)
    for name in study.contenders:
        if name not in missing and name not in able:
            yield Skipped(contender=name, reason=f"answers none of {', '.join(study.workloads)}")
    for reason in dict.fromkeys(lacking.values()):
        if workloads := [name for name in study.workloads if lacking.get(name) == reason]:
            yield Skipped(contender="", workloads=workloads, reason=reason)


def memory_bytes(study: Study) -> int | None:
    """The study's memory limit in bytes; None: no limit."""
    return None if study.memory_mb is None else study.memory_mb * 2**20


class Cell(NamedTuple):
    """What every round holds once."""

    contender: str
    workload: str
    load: Load
    driver: str


def _cells(study: Study, catalogue: Catalogue, contenders: list[str]) -> Iterator[Cell]:
    for name in contenders:
        contender = catalogue.contenders[name]
        answers = catalogue.apps[contender.app].answers if contender.answers is None else contender.answers
        for workload in study.workloads:
            if workload in answers:
                yield from (Cell(name, workload, load, driver) for load, driver in driven(study, workload, name))


def driven(study: Study, workload: str | None = None, contender: str | None = None) -> list[tuple[Load, str]]:
    """Every Load of the study (for ``workload``, for ``contender``) with its driver; one that several templates lead to
    is there once."""
    templates = [each for each in study.loads if _asks(each.workloads, workload) and _asks(each.contenders, contender)]
    by_template = ((template, template.driver or study.driver) for template in templates)
    each = ((load, driver) for template, driver in by_template for load in _loads(template, study.seed, driver))
    return list(dict.fromkeys(each))


def loads_of(study: Study) -> list[Load]:
    """Every Load of the study."""
    return [load for load, _ in driven(study)]


def _asks(only: Collection[str], name: str | None) -> bool:
    return not only or name is None or any(fnmatchcase(name, each) for each in only)


def drivers_of(study: Study) -> list[str]:
    """Every driver of the study, each once."""
    return list(dict.fromkeys(driver for _, driver in driven(study)))


def _loads(template: StudyLoad, seed: int, driver: str) -> Iterator[Load]:
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
        )


def _most(template: StudyLoad, connections: int, *, is_open: bool) -> int | None:
    """How far connections may grow: ten times as many where nothing is said; None at a closed load."""
    if not is_open:
        return None
    return 10 * connections if template.max_connections is None else template.max_connections


def _trial(catalogue: Catalogue, cell: Cell, round_: int) -> Trial:
    contender = catalogue.contenders[cell.contender]
    return Trial(
        id=trial_id(
            contender,
            catalogue.apps[contender.app],
            catalogue.runtimes[contender.runtime],
            catalogue.workloads[cell.workload],
            cell.load,
            cell.driver,
            round_,
        ),
        contender=cell.contender,
        workload=cell.workload,
        load=cell.load,
        driver=cell.driver,
        round=round_,
        warmup_s=contender.warmup_s,
    )
