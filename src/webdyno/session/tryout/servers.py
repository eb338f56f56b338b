"""The servers of the catalogue, each built for the project, as settings that can be measured."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import msgspec

from webdyno.build import lacking
from webdyno.build.environment import said
from webdyno.build.own import OwnJob, Packages, build_own
from webdyno.model.built import Built
from webdyno.model.catalogue import Catalogue
from webdyno.model.contender import Contender
from webdyno.model.errors import BuildError
from webdyno.model.trial import Skipped
from webdyno.rig.strap import Strapped
from webdyno.session.builds import say_built
from webdyno.session.saying import note
from webdyno.session.tryout.fitting import Setting, base_setting
from webdyno.session.tryout.project import Project

AT_ONCE = 2
_RESOLVER = re.compile(r"Because (.{1,400}?)(?=,? and because|\. And because|, we can|$)")
"""What uv says of versions that exclude each other, up to its conclusions."""
_MARKER = re.compile(r"\{[^}]*\}")
"""``greenlet{platform_python_implementation == 'CPython'}>=3.2.2``: who reads it knows what his Python is."""
SHOWN_VARIABLES = ("PATH", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "WEBDYNO_APP")
"""Of a server's environment: what may stand in a record. The rest is the user's own, and may be secret."""


@dataclass(frozen=True)
class Server:
    """One server, built: its setting as recommended, what is served, the catalogue's contender, its scripts."""

    setting: Setting
    built: Built
    original: Contender
    scripts: Path
    """Folder of the catalogue's scripts for it."""


def build_servers(
    contenders: Sequence[Contender],
    project: Project,
    known: Catalogue,
    strapped: Strapped,
    cache: Path,
) -> tuple[list[Server], list[Skipped]]:
    """Each built, a few at once, and those that could not be, with the reason."""
    packages = Packages(
        program=project.said.base,
        version=project.version,
        folders=project.said.folders,
        installed=project.said.packages,
    )

    def one(contender: Contender) -> Server | Skipped:
        if reason := lacking(contender):
            return Skipped(contender=contender.name, reason=reason)
        sources = known.app_directories[contender.app]
        job = OwnJob(
            contender=contender,
            app=known.apps[contender.app],
            runtime=known.runtimes[contender.runtime],
            sources=sources,
        )
        try:
            built = build_own(job, packages, cache, strapped, strapped.interrupted)
        except BuildError as error:
            return Skipped(contender=contender.name, reason=_reason(error))
        say_built(contender.name, built)
        setting = base_setting(contender, project, built.directory, len(strapped.rig.contender_cores))
        return Server(setting, served_from(built, project), contender, sources)

    if contenders:
        note([said()])
    with ThreadPoolExecutor(max_workers=AT_ONCE, thread_name_prefix="build") as pool:
        results = list(pool.map(one, contenders))
    return [each for each in results if isinstance(each, Server)], [
        each for each in results if isinstance(each, Skipped)
    ]


def _reason(error: BuildError) -> str:
    """Why; where the project's packages are in the way, the resolver's own sentence."""
    told = _MARKER.sub("", " ".join(error.log_tail.split()))
    found = _RESOLVER.search(told)
    return f"it conflicts with the project's packages: {found[1]}" if found is not None else str(error)


def served_from(built: Built, project: Project) -> Built:
    """In the project's folder, with the project's environment, and the server's programs first on PATH."""
    programs = built.environment["PATH"].split(":", 1)[0]
    own = project.environment
    environment = {
        **own,
        "PATH": f"{programs}:{own['PATH']}",
        "PYTHONPATH": f"{own['PYTHONPATH']}:{built.directory}",
        "WEBDYNO_APP": project.target,
    }
    return msgspec.structs.replace(built, directory=str(project.folder), environment=environment)


def hidden_variables(project: Project | None, variables: dict[str, str]) -> frozenset[str]:
    """Names whose values are the user's."""
    own = {*os.environ, *variables, *(project.environment if project is not None else ())}
    return frozenset(own.difference(SHOWN_VARIABLES))


def other_versions(original: Contender, project: Project) -> list[str]:
    """What the server was measured with where the project has another version of it."""
    from webdyno.build.own import canonical

    installed = {canonical(name): version for name, version in project.said.packages.items()}
    found = []
    for requirement in original.requires:
        name, _, version = requirement.partition("==")
        there = installed.get(canonical(name.partition("[")[0]))
        if there is not None and there != version:
            found.append(f"{name} {version} (your project has {there})")
    return found
