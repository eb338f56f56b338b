"""Ready: all that has to be there before the first Trial, looked for and built."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec

from webdyno.model.built import Built, Found
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import BuildError, UsageError
from webdyno.model.service import FoundService
from webdyno.model.study import Study, StudyLoad
from webdyno.model.trial import Plan
from webdyno.plan import make_plan
from webdyno.rig.strap import Strapped
from webdyno.session.builds import build_contenders
from webdyno.session.lookup import driver_versions, look_for_runtimes
from webdyno.session.services import build_services, look_for_services


@dataclass(frozen=True, kw_only=True)
class Ready:
    """What is there before the first Trial."""

    plan: Plan
    built: Mapping[str, Built | BuildError]
    found: Mapping[str, FoundService]
    """Services."""
    servers: Mapping[str, Built | BuildError]
    """Embedded services, built."""
    drivers: Mapping[str, str]
    """Their versions."""


@dataclass(frozen=True, kw_only=True)
class There:
    """What this machine has of what is needed, and for what it has not, the reason by name."""

    runtimes: Mapping[str, Found]
    missing: Mapping[str, str]
    """Contenders."""
    services: Mapping[str, FoundService]
    lacking: Mapping[str, str]
    """Workloads whose service is missing."""


def look(known: Catalogue, contenders: Iterable[str], workloads: Iterable[str], strapped: Strapped) -> There:
    """Runtimes, of which those that can be had without rights are brought, and services."""
    runtimes, missing = look_for_runtimes(known, list(contenders), strapped, fetch=True)
    services, lacking = look_for_services(known, workloads, strapped, apart=strapped.apart)
    return There(runtimes=runtimes, missing=missing, services=services, lacking=lacking)


def build(known: Catalogue, plan: Plan, there: There, drivers: Mapping[str, str], strapped: Strapped) -> Ready:
    """Everything of ``plan`` that is to be built, several at once; one failure stops nobody else."""
    return Ready(
        plan=plan,
        built=build_contenders(list(plan.contenders), known, there.runtimes, strapped),
        found=there.services,
        servers=build_services(there.services, known, strapped),
        drivers=drivers,
    )


def question_plan(
    known: Catalogue, contenders: list[str], workload: str, missing: Mapping[str, str], **about: str | float | None
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
    **about: str | float | None,
) -> Ready:
    """Contenders of the catalogue built, and the service they need looked for."""
    there = look(known, contenders, [workload], strapped)
    for reason in there.lacking.values():
        raise UsageError(f"--workload {workload}: {reason}")
    plan = question_plan(known, contenders, workload, there.missing, **about)
    return build(known, plan, there, driver_versions(["engine"], strapped.of_drivers), strapped)


def memory_of(memory_mb: int | None) -> int | None:
    """In bytes, as a study's."""
    return None if memory_mb is None else memory_mb * 2**20
