"""What a tryout was asked and found when it began: as it is written down, and read back when it goes on."""

from __future__ import annotations

from pathlib import Path

import msgspec

from webdyno.analyse.words import listing
from webdyno.model.again import Again
from webdyno.model.errors import UsageError
from webdyno.model.secret import filled_in
from webdyno.model.tried import Outset, Sources, Tried
from webdyno.model.workload import Workload
from webdyno.session.tryout.bench import TryBench
from webdyno.session.tryout.envfile import read_env_file
from webdyno.session.tryout.first import First
from webdyno.session.tryout.project import environment
from webdyno.session.tryout.sitting import Sitting
from webdyno.session.tryout.sources import Stamps, sources, stamps_of_command
from webdyno.session.tryout.task import Questions, Task, workload_of


def tried(task: Task, outset: Outset) -> Tried:
    """What is written down."""
    return Tried(
        folder=str(task.folder),
        budget=task.budget,
        budget_s=task.budget_s,
        requests=list(task.asked.requests),
        by_schema=task.asked.by_schema,
        is_unsaid=task.asked.is_unsaid,
        connections=task.connections,
        app=task.app,
        current=task.current,
        commands=list(task.commands),
        images=list(task.images),
        container_port=task.container_port,
        servers=None if task.servers is None else list(task.servers),
        python=None if task.python is None else str(task.python.expanduser().absolute()),
        env_file=None if task.env_file is None else str(task.env_file.expanduser().absolute()),
        names=list(task.names),
        interface=task.interface,
        outset=outset,
    )


def outset_of(sitting: Sitting, first: First, bench: TryBench, before: Stamps) -> Outset:
    """What a sitting found when it began; ``before``: files as they were before anything was started."""
    return Outset(
        ready_s=first.ready_s,
        slowest_s=first.slowest_s,
        alone_s=first.alone_s,
        notes=first.notes,
        compilers=sitting.current_compilers,
        memory_bytes=bench.room.memory_bytes,
        profiles=sitting.budget(first.ready_s).profiles,
        token=sitting.token,
        built=_keys(bench),
        packages=_packages(sitting),
        sources=sources(sitting.task.folder, before),
    )


def commands_of(sitting: Sitting) -> Stamps:
    """Files that the commands of a sitting name outside of the project; an image says itself which it is."""
    folder, variables = sitting.task.folder, sitting.task.variables
    path = environment(folder, variables, None if sitting.project is None else sitting.project.python)["PATH"]
    found: dict[str, tuple[int, int]] = {}
    for name, setting in sitting.commands.items():
        if name not in sitting.images:
            own = setting.contender.environment.get("PATH", path)
            found |= stamps_of_command(setting.contender.serve, folder, own)
    return found


def refuse_changed_builds(was: Outset, sitting: Sitting, bench: TryBench, results: Path) -> None:
    """UsageError where what would be started is not what the earlier sitting started."""
    packages, built = _packages(sitting), _keys(bench)
    kinds = {"its Python or a package of it": (was.packages, packages), "what is served": (was.built, built)}
    for kind, (before, now) in kinds.items():
        changed = [name for name in {**before, **now} if before.get(name) != now.get(name)]
        if changed:
            reasons = {each.contender: each.reason for each in sitting.skipped}
            named = [f"{name} ({reasons[name]})" if name in reasons else name for name in changed[:3]]
            raise UsageError(
                f"{results}: {kind} has changed since the start: {listing(named)}; restore it, or start over "
                "without --resume"
            )


def _keys(bench: TryBench) -> dict[str, str]:
    return {name: built.key for name, built in bench.built.items()}


def _packages(sitting: Sitting) -> dict[str, str]:
    project = sitting.project
    return {} if project is None else {"Python": project.version, **project.said.packages}


def without_files(was: Tried) -> Tried:
    """For the Plan of the last comparison, which people look at: the names of files are in that of the screening."""
    return msgspec.structs.replace(was, outset=msgspec.structs.replace(was.outset, sources=Sources()))


def task_again(was: Tried, again: Again, results: Path) -> Task:
    """The same task, whose evidence goes on in ``results``. UsageError where its folder, or its variables, are gone."""
    folder, env_file = Path(was.folder), None if was.env_file is None else Path(was.env_file)
    if not folder.is_dir():
        raise UsageError(f"{results}: the project's folder {folder} no longer exists: restore it, or start over")
    written = {} if env_file is None else read_env_file(env_file)
    requests = filled_in(workload_of(was.requests), {name.lower(): text for name, text in again.headers}).requests
    return Task(
        asked=Questions(requests=requests, by_schema=was.by_schema, is_unsaid=was.is_unsaid),
        folder=folder,
        budget=was.budget,
        budget_s=was.budget_s,
        connections=was.connections,
        app=was.app,
        current=was.current,
        commands=was.commands,
        images=was.images,
        container_port=was.container_port,
        servers=was.servers,
        python=None if was.python is None else Path(was.python),
        env_file=env_file,
        names=was.names,
        variables=written | {**again.variables},
        interface=was.interface,
        save=results,
    )


def first_again(outset: Outset, workload: Workload) -> First:
    """The first answers as they were, by which the course of the tryout is decided."""
    return First(workload, outset.ready_s, outset.slowest_s, outset.alone_s, outset.notes)
