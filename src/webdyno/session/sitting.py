"""A sitting: contenders built, a results folder open, and Trials decided one after the other from the Runs so far.

What ``run`` does for a plan that is known beforehand, this does for commands that search or compare.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from webdyno.conduct import Bench, conduct
from webdyno.load.driver import DRIVERS
from webdyno.model.built import Built
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import BuildError, UsageError
from webdyno.model.load import Load
from webdyno.model.run import Run
from webdyno.model.service import FoundService
from webdyno.model.study import Study, StudyLoad
from webdyno.model.trial import Plan, Trial, trial_id
from webdyno.plan import make_plan
from webdyno.rig.ask import asker
from webdyno.rig.strap import Strapped
from webdyno.service import Services
from webdyno.session.builds import build_contenders
from webdyno.session.ceilings import with_ceilings
from webdyno.session.folders import cache_folder
from webdyno.session.listeners import Beside
from webdyno.session.lookup import look_for_runtimes
from webdyno.session.services import build_services, look_for_services
from webdyno.store import Store

DRIVER = "engine"
Take = Callable[[str, Load, int], Run]
"""Carries out one Trial of a contender under a load, in a round from 1, and writes its Run down."""


@dataclass(frozen=True, kw_only=True)
class Ready:
    """What is there before the first Trial."""

    plan: Plan
    built: Mapping[str, Built | BuildError]
    found: Mapping[str, FoundService]
    """Services."""
    servers: Mapping[str, Built | BuildError]
    """Embedded services, built."""


def question_plan(
    known: Catalogue, contenders: list[str], workload: str, missing: Mapping[str, str], **about: str | int | None
) -> Plan:
    """A plan without Trials as yet: ``about`` has its name, title, question, seed and memory_mb.

    UsageError when a contender cannot be had here, or does not answer the workload.
    """
    load = StudyLoad(connections=[1], duration_s=1.0)
    study = Study(contenders=contenders, workloads=[workload], loads=[load], rounds=1, **about)  # type: ignore[arg-type]
    plan = make_plan(study, known, missing)
    for skip in plan.skipped:
        raise UsageError(f"{skip.what}: {skip.reason}")
    return msgspec.structs.replace(plan, trials=[], seconds=0.0)


def workload_of(known: Catalogue, contenders: list[str], wanted: str | None) -> str:
    """``wanted``, or the first workload that all ``contenders`` answer; UsageError."""
    answers = [known.contenders[name].answers or known.apps[known.contenders[name].app].answers for name in contenders]
    shared = [name for name in answers[0] if all(name in of for of in answers)]
    both = " and ".join(contenders)
    if wanted is None:
        if not shared:
            raise UsageError(f"{both} have no workload in common; see: webdyno show {contenders[0]}")
        return shared[0]
    if wanted not in shared:
        raise UsageError(f"--workload {wanted}: {both} answer {', '.join(shared) or 'nothing in common'}")
    return wanted


def ready_from_catalogue(
    known: Catalogue,
    contenders: list[str],
    workload: str,
    strapped: Strapped,
    interrupted: threading.Event,
    **about: str | int | None,
) -> Ready:
    """Contenders of the catalogue built, and the service they need looked for."""
    found, missing = look_for_runtimes(known, contenders, strapped, fetch=True)
    services, lacking = look_for_services(known, [workload], strapped)
    for reason in lacking.values():
        raise UsageError(f"--workload {workload}: {reason}")
    plan = question_plan(known, contenders, workload, missing, **about)
    return Ready(
        plan=plan,
        built=build_contenders(contenders, known, found, strapped, interrupted),
        found=services,
        servers=build_services(services, known, strapped, interrupted),
    )


def memory_of(memory_mb: int | None) -> int | None:
    """In bytes, as a study's."""
    return None if memory_mb is None else memory_mb * 2**20


@contextmanager
def sitting(ready: Ready, strapped: Strapped, folder: Path, interrupted: threading.Event) -> Iterator[Take]:
    """The way to carry out a Trial, while the results folder is open; whatever happens, services end with it."""
    driver = DRIVERS[DRIVER]()
    version = driver.version(asker(strapped))
    fingerprint = with_ceilings(strapped.fingerprint, cache_folder())
    with (
        Store.create(folder, ready.plan, fingerprint) as store,
        Services(ready.found, ready.servers, strapped, store.service_log, interrupted) as services,
        Beside(folder, None, set()) as beside,
    ):
        bench = Bench(
            plan=ready.plan,
            strapped=strapped,
            services=services,
            driver=driver,
            driver_version=version,
            contender_log=store.contender_log,
            driver_log=store.driver_log,
            interrupted=interrupted,
            watch=beside.event,
        )

        def take(contender: str, load: Load, round_: int) -> Run:
            trial = trial_of(ready.plan, contender, load, round_)
            store.grow([trial])
            beside.begin(trial)
            run = conduct(trial, bench, ready.built[contender])
            store.append(run)
            beside.end(run)
            return run

        yield take


def trial_of(plan: Plan, contender: str, load: Load, round_: int) -> Trial:
    """One more Trial of a plan with one workload."""
    it, (workload,) = plan.contenders[contender], plan.workloads
    return Trial(
        id=trial_id(it, plan.apps[it.app], plan.runtimes[it.runtime], plan.workloads[workload], load, DRIVER, round_),
        contender=contender,
        workload=workload,
        load=load,
        driver=DRIVER,
        round=round_,
        warmup_s=it.warmup_s,
    )
