"""Plan: from a Study and the catalogue to the ordered Trials. Pure: the same seed gives the same order everywhere.

In which order, and why, is the matter of ``design/``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from webdyno.design.grid import cell_by_cell, in_rounds
from webdyno.design.length import expected_s
from webdyno.design.linked import Table, groups
from webdyno.model.block import Turns
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import UsageError
from webdyno.model.further import Further
from webdyno.model.load import Load
from webdyno.model.service import Service
from webdyno.model.study import Study
from webdyno.model.trial import Plan, Skipped, Trial, trial_id
from webdyno.model.workload import Workload
from webdyno.plan.loads import asks, driven, drivers_of, loads_of
from webdyno.plan.narrowing import brief_of, contenders_called, narrow

__all__ = ["brief_of", "contenders_called", "driven", "drivers_of", "loads_of", "make_plan", "memory_bytes", "narrow"]


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
    asked = {name for name in study.workloads if any(asks(load.workloads, name) for load in study.loads)}
    able = [name for name in names if not asked.isdisjoint(_answers(catalogue, name))]
    skipped = list(_skipped(study, missing, able, lacking))
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
    used = [catalogue.contenders[name] for name in study.contenders if any(cell.contender == name for cell in cells)]
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
    return _measured(plan, study)


def _measured(plan: Plan, study: Study) -> Plan:
    """How long it takes, how contenders are kept, and what may follow its rounds."""
    seconds = sum(expected_s(plan, trial) for trial in plan.trials)
    how = {"way": study.way, "as_user": study.as_user, "cpus": study.cpus}
    plan, further = msgspec.structs.replace(plan, seconds=seconds, **how), _further(study)
    return plan if further is None else msgspec.structs.replace(plan, further=further, whole_rounds=study.rounds)


def _further(study: Study) -> Further | None:
    """The looks beyond its own rounds, where it has claims to look at and starts a server for each round."""
    if study.further is None or not study.claims or study.is_raced or study.design == "in-place":
        return None
    looks = [look for look in study.further.looks if look > study.rounds]
    return msgspec.structs.replace(study.further, looks=looks) if looks else None


def _services(catalogue: Catalogue, workloads: Mapping[str, Workload]) -> dict[str, Service]:
    """Those that the workloads need."""
    needed = dict.fromkeys(workload.service for workload in workloads.values() if workload.service)
    return {name: catalogue.services[name] for name in needed}


def _trials(study: Study, catalogue: Catalogue, cells: list[Cell]) -> list[Trial]:
    """The cells in every round, in the order of the study's design."""
    if study.design == "in-place":
        ordered = cell_by_cell(cells, study.rounds, study.seed)
    else:
        group = groups(study.claims, map(_table, cells))
        ordered = in_rounds(cells, study.rounds, study.seed, lambda cell: (cell.contender, group[_table(cell)]))
    return [_trial(catalogue, cell, round_) for round_, cell in ordered]


def _table(cell: Cell) -> Table:
    return cell.workload, cell.load, cell.driver


def _skipped(
    study: Study,
    missing: Mapping[str, str],
    able: Collection[str],
    lacking: Mapping[str, str],
) -> Iterator[Skipped]:
    """One line for each contender that is not there or answers nothing of it, and one for each reason of workloads.

    Whom no load asks, as in many a brief study, is not missed.
    """
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
        answers = _answers(catalogue, name)
        for workload in study.workloads:
            if workload in answers:
                yield from (Cell(name, workload, load, driver) for load, driver in driven(study, workload, name))


def _answers(catalogue: Catalogue, name: str) -> Collection[str]:
    contender = catalogue.contenders[name]
    return catalogue.apps[contender.app].answers if contender.answers is None else contender.answers


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
        warmup_requests=contender.warmup_requests,
    )
