"""The catalogue's servers that can serve an application, and the settings of each that are worth trying."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import msgspec

from webdyno.build.own import APP
from webdyno.model.catalogue import Catalogue
from webdyno.model.contender import Contender
from webdyno.model.errors import UsageError
from webdyno.model.rule import evaluate
from webdyno.model.spelling import did_you_mean
from webdyno.session.tryout.project import Project

SWEPT = ("workers", "threads")
"""What a sweep may vary; another server's worker class, loop or parser is another contender."""
WORKERS_PER_CORE = 8
"""The most workers that a server without threads is given where it waits: each is a process with its own memory."""
NOT_TRIED = {"mod_wsgi-express": "Apache reads its own configuration, not a project's folder and variables"}
"""Servers that cannot be given a project as it is."""


class Setting(msgspec.Struct, frozen=True):
    """One server with its settings as numbers; ``contender`` is what is served."""

    contender: Contender
    base: str
    """Name of the catalogue's contender, or of a command."""
    workers: int | None
    threads: int | None
    """None: the command line has no such number."""
    recommended: bool
    """As the catalogue has it, which is as the server's own pages recommend it."""

    is_command: bool = False
    """A command line of the user's, which is kept in ``contender.because`` as it was typed."""

    @property
    def name(self) -> str:
        """Its contender's."""
        return self.contender.name

    @property
    def pool(self) -> int:
        """Workers and threads as one number: requests it works on at a time, where each holds one of them."""
        return (self.workers or 1) * (self.threads or 1)


def fitting(catalogue: Catalogue, interface: str, wanted: Sequence[str] | None) -> list[Contender]:
    """The contenders that serve a bare application of that interface on CPython. UsageError for an unknown one."""
    able = {
        name: contender
        for name, contender in catalogue.contenders.items()
        if catalogue.apps[contender.app].interface == interface
        and catalogue.apps[contender.app].framework == "none"
        and catalogue.runtimes[contender.runtime].kind == "python"
        and contender.runtime.startswith("cpython-")
        and not contender.runtime.endswith("t")
        and contender.pool is None
        and not contender.beside
        and not contender.is_of_article
        and contender.server not in NOT_TRIED
    }
    alike: dict[str, Contender] = {}
    for contender in able.values():
        alike.setdefault(repr((contender.serve, contender.requires)), contender)
    kept = {contender.name: contender for contender in alike.values()}
    if wanted is None:
        return list(kept.values())
    return [contender for name in wanted for contender in _called(name, kept, interface)]


def _called(name: str, able: dict[str, Contender], interface: str) -> list[Contender]:
    """A contender by its name, or all of a server."""
    found = [each for each in able.values() if name in (each.name, each.server)]
    if not found:
        names = sorted({*able, *(each.server for each in able.values())})
        hint = did_you_mean(name, names, f"there are {', '.join(names)}")
        raise UsageError(f"--server {name}: no server of that name serves {interface.upper()}; {hint}")
    return found


def base_setting(contender: Contender, project: Project, scripts: str, cores: int) -> Setting:
    """The contender as the catalogue has it, serving the project; ``scripts`` is the folder of its build."""
    served = msgspec.structs.replace(contender, app="own", answers=None, serve=served_by(contender, project, scripts))
    return _with(served, contender.name, contender.workers, contender.threads, cores, recommended=True)


def served_by(contender: Contender, project: Project, scripts: str) -> list[str]:
    """Its command with the application and the scripts put in."""
    target = project.target if project.is_plain else f"{APP}:app"
    words = [target if word == "app:app" else word for word in contender.serve]
    return [f"{scripts}/{word}" if word.startswith("serve_") and word.endswith(".py") else word for word in words]


def settings_of(base: Setting, cores: int) -> Iterator[Setting]:
    """Every combination of its sweep, each once, without ``base`` itself."""
    contender = base.contender
    values = [contender.sweep.get(key) or [getattr(base, key) or 1] for key in SWEPT]
    seen = {(base.workers, base.threads)}
    for workers, threads in product(*values):
        made = _with(contender, base.base, workers, threads, cores, recommended=False)
        if (made.workers, made.threads) not in seen:
            seen.add((made.workers, made.threads))
            yield made


def wider_than(base: Setting, cores: int, connections: int) -> list[Setting]:
    """Its settings with a larger pool than ``base`` has, the largest first: for a server that waits.

    The catalogue's values are for servers that are busy; one that waits can use a thread for each of the connections,
    or, where it has no threads, more workers than cores.
    """
    found = {setting.name: setting for setting in settings_of(base, cores)}
    if base.threads is not None:
        most = _with(
            base.contender,
            base.base,
            base.workers or 1,
            -(-connections // (base.workers or 1)),
            cores,
            recommended=False,
        )
        found[most.name] = most
    elif base.workers is not None:
        workers = min(connections, WORKERS_PER_CORE * cores)
        most = _with(base.contender, base.base, workers, 1, cores, recommended=False)
        found[most.name] = most
    larger = [setting for setting in found.values() if setting.pool > base.pool]
    return sorted(larger, key=lambda setting: -setting.pool)


def _with(
    contender: Contender, base: str, workers: int | str, threads: int | str, cores: int, *, recommended: bool
) -> Setting:
    text = " ".join([*contender.serve, *contender.environment.values()])
    w = evaluate(workers, cores) if "{workers}" in text else None
    t = evaluate(threads, cores) if "{threads}" in text else None
    marks = ([f"{w}w"] if w is not None else []) + ([f"{t}t"] if t is not None else [])
    name = "-".join([base, *marks])
    numbered = msgspec.structs.replace(contender, name=name, workers=w or 1, threads=t or 1)
    return Setting(numbered, base, w, t, recommended)
