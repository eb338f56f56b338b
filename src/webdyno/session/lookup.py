"""Which study is meant, and what of it this machine has: drivers, runtimes, and what a driver can be asked."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from webdyno.build import expect_runtime, fetch_runtime, lacking
from webdyno.load.driver import DRIVERS, Order
from webdyno.model.built import Found
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import MachineError, UsageError
from webdyno.model.spelling import did_you_mean
from webdyno.model.study import Study
from webdyno.model.workload import Request
from webdyno.plan import driven, drivers_of
from webdyno.read.folders import read_study
from webdyno.rig.ask import asker
from webdyno.rig.host import Host
from webdyno.serve.verify import with_body, without_pattern
from webdyno.session.folders import cache_folder


def study_called(name: str, catalogue: Catalogue) -> Study:
    """The study of that name, or in that file."""
    if name in catalogue.studies:
        return catalogue.studies[name]
    if name.endswith(".toml") or "/" in name:
        path = Path(name)
        if not path.is_file():
            raise UsageError(f"{name}: there is no such study file")
        return read_study(path, catalogue)
    hint = did_you_mean(name, catalogue.studies, f"there are: {', '.join(sorted(catalogue.studies))}")
    raise UsageError(f"there is no study {name!r}; {hint}")


def driver_called(name: str, said: str = "--driver") -> str:
    """``name``, proven to be a driver; ``said`` is where it was named."""
    if name not in DRIVERS:
        raise UsageError(f"{said} {name}: there is no such driver; there are: {', '.join(DRIVERS)}")
    return name


def refuse_what_the_driver_cannot(study: Study, catalogue: Catalogue) -> None:
    """UsageError, before anything is built, when the driver cannot carry out one of the study's Orders truly."""
    for workload in study.workloads:
        requests = [_verified(request) for request in catalogue.workloads[workload].requests]
        for load, name in driven(study, workload):
            driver = DRIVERS[driver_called(name, f"study {study.name}: driver")]()
            with suppress(MachineError):  # it is not here: look_for_drivers says so, and what of the study can go on
                driver.commands(Order(host="127.0.0.1", port=1, requests=requests, load=load, cores=(0,)))


def look_for_drivers(study: Study, host: Host) -> tuple[dict[str, str], dict[str, str]]:
    """The versions of the study's drivers that are here, and for each that is not the reason, with how to get it.

    MachineError when none is.
    """
    versions: dict[str, str] = {}
    absent: dict[str, str] = {}
    for name in drivers_of(study):
        try:
            versions[name] = DRIVERS[name]().version(asker(host))
        except MachineError as error:
            if len(drivers_of(study)) == 1:
                raise
            absent[name] = str(error)
    if not versions:
        raise MachineError("; ".join(absent.values()))
    return versions, absent


def driver_versions(names: Iterable[str], host: Host) -> dict[str, str]:
    """Of drivers that must be there; MachineError."""
    return {name: DRIVERS[name]().version(asker(host)) for name in names}


def _verified(request: Request) -> Request:
    """As it would be after verification, when a JSON value has become the bytes that were seen."""
    request = without_pattern(request)
    if request.expect.body_any_of:
        request = with_body(request, request.expect.body_any_of[0])
    if request.expect.json_equals is None:
        return request
    seen = msgspec.structs.replace(request.expect, json_equals=None, body_sha256="0" * 64)
    return msgspec.structs.replace(request, expect=seen)


def look_for_runtimes(
    catalogue: Catalogue, contenders: list[str], host: Host, *, fetch: bool
) -> tuple[dict[str, Found], dict[str, str]]:
    """The runtimes that exist here by name, and for each contender that lacks its own, or more, the reason.

    With ``fetch``, what is missing and can be had without rights is brought first; without, it counts where npm would
    bring it.
    """
    find = fetch_runtime if fetch else expect_runtime
    found: dict[str, Found] = {}
    reasons: dict[str, str] = {}
    needed = {contender: catalogue.contenders[contender].runtimes for contender in contenders}
    for name in sorted({name for names in needed.values() for name in names}):
        result = find(catalogue.runtimes[name], host, cache_folder())
        if isinstance(result, Found):
            found[name] = result
        else:
            reasons[name] = result
    wanting = {name: reason for name in contenders if (reason := lacking(catalogue.contenders[name]))}
    lack = {contender: [reasons[name] for name in names if name in reasons] for contender, names in needed.items()}
    return found, {**wanting, **{contender: of_it[0] for contender, of_it in lack.items() if of_it}}
