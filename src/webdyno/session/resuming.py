"""Plans that go on: as they were defined when they began, on the machine they began on, with what no file keeps."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from webdyno.analyse.words import length, listing
from webdyno.design.length import spent_s
from webdyno.model.again import Again
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import UsageError
from webdyno.model.further import Further
from webdyno.model.paired import Revisions
from webdyno.model.place import Cluster
from webdyno.model.rig import Fingerprint
from webdyno.model.secret import STARS, filled_in, withheld
from webdyno.model.trial import Plan
from webdyno.rig.strap import Strapped
from webdyno.session.ceilings import with_ceilings
from webdyno.session.executed import visible
from webdyno.session.folders import cache_folder
from webdyno.session.lookup import driver_versions
from webdyno.session.machine import strapped_here, wide
from webdyno.session.ready import There, look
from webdyno.session.saying import note
from webdyno.session.trust import Agree, ask_for_plan, throwaway_for
from webdyno.store import FILE, LOGS, Store

_PROCESSORS = ("cpu_model", "architecture", "cores", "threads_per_core")
"""Of a Fingerprint: what makes it another machine."""
_OURS = ("capacity", "compare", "load", "try")
"""Commands that name their plans after themselves."""


def opened(path: Path) -> Store:
    """Results to go on with. UsageError, as of ``Store.open`` and ``refuse_links``."""
    folder = path.parent if path.name == FILE else path
    if (folder / FILE).is_file():
        refuse_links(folder)
    return Store.open(path, writable=True)


def refuse_links(folder: Path) -> None:
    """UsageError for a link in a results folder: what is written to it would land elsewhere."""
    for path in (*folder.glob("*"), *folder.glob(f"{LOGS}/*")):
        if path.is_symlink():
            raise UsageError(
                f"{visible(str(path))}: this is a link, and a results folder may not contain links: replace it "
                "by its target"
            )


def agreed(store: Store, known: Catalogue, agree: Agree) -> None:
    """UsageError unless what the plan has executed is known here, or agreed to, and its names stay in its folder."""
    plan = store.plan()
    kinds: list[Mapping[str, Any]] = [plan.contenders, plan.apps, plan.runtimes, plan.services]
    for name in (name for kind in kinds for name in kind):  # of Trials the store has seen to it
        if "/" in name or "\0" in name:
            raise UsageError(f"{store.folder}: {visible(name)!r} cannot be a name, for files are named after it")
    ask_for_plan(plan, store.folder, known, agree)


def command_of(plan: Plan) -> str:
    """The command that goes on with it."""
    return "compare" if plan.paired else "capacity" if plan.sought else "try" if plan.tried else "run"


def not_by(command: str, plan: Plan, folder: Path) -> UsageError:
    """Why ``command`` does not go on with a plan, and what does."""
    right = command_of(plan)
    if right == "run" and plan.study == command:
        return UsageError(f"{folder}: an older webdyno made it, and did not record how to resume it: start over")
    if right == "run" and plan.study in _OURS and not plan.arguments:
        return UsageError(f"{folder}: webdyno {plan.study} made it, and that cannot be resumed: start over")
    return UsageError(f"{folder} holds no results of webdyno {command}: webdyno {right} --resume {folder} continues")


def line_of(plan: Plan, folder: Path, catalogues: Sequence[Path | str] = ()) -> str | None:
    """The command line that goes on with a plan; None: there is none, for what it lacks cannot be given again."""
    if _never_again(plan):
        return None
    words = ["webdyno", command_of(plan), "--resume", str(folder)]
    words += [word for path in catalogues for word in ("--catalogue", str(path))]
    words += _placing(plan)
    if _is_asked_by_flags(plan):
        words += [word for name in dict.fromkeys(withheld(plan.workloads)) for word in ("-H", f"{name}: ...")]
    words += [word for name in _variables(plan) for word in ("--env", f"{name}=...")]
    return shlex.join(words)


def _placing(plan: Plan) -> list[str]:
    """The flags that say where load is made, as they were typed; none of them is known to a session."""
    far = [word for pair in pairwise(plan.arguments) if pair[0] == "--far" for word in pair]
    return [*far, *(word for word in plan.arguments if word in ("--allow-public", "--insecure-cluster", "--fleet"))]


def _is_asked_by_flags(plan: Plan) -> bool:
    """What is asked was typed, and stands in no catalogue."""
    made = _revisions(plan)
    return is_by_url(plan) or plan.tried is not None or (made is not None and made.cmd is not None)


def _revisions(plan: Plan) -> Revisions | None:
    return None if plan.paired is None else plan.paired.revisions


def _variables(plan: Plan) -> list[str]:
    """Names of those whose values have to be given again."""
    made = _revisions(plan)
    return plan.tried.names if plan.tried is not None else [] if made is None else made.variables


def _commands(plan: Plan) -> list[str]:
    """As they were typed."""
    if plan.tried is not None:
        return [plan.tried.current or "", *plan.tried.commands]
    made = _revisions(plan)
    return [] if made is None else [made.cmd or "", *made.builds]


def further_of(store: Store, more_s: float) -> Further:
    """What a plan gives its open claims, with so much more time; UsageError where it gives them nothing."""
    plan = store.plan()
    if plan.further is None:
        raise UsageError(f"{store.folder}: its plan has no further rounds for open claims: leave --further out")
    spent = spent_s(run for run in store.runs() if run.trial.round > plan.rounds_of_all)
    return msgspec.structs.replace(plan.further, budget_s=spent + more_s)


def why_nothing_followed(store: Store) -> str:
    """Of a study that was given time for further rounds and used none of it."""
    from webdyno.design.open_claims import cheapest_s  # numpy, which a grid need not wait for

    plan = store.plan()
    further = plan.further
    needed_s = None if further is None else cheapest_s(plan, further, store.fingerprint(), store.runs())
    if needed_s is None:
        return "nothing was measured: no claim is open that more rounds can decide"
    return (
        f"nothing was measured: the next look at an open claim takes {length(needed_s)} of further rounds or more; "
        f"try --further {max(1, math.ceil(needed_s / 60))}m"
    )


def is_by_url(plan: Plan) -> bool:
    """Of a server that runs already: nothing starts it."""
    return not any(contender.serve for contender in plan.contenders.values())


def _never_again(plan: Plan) -> str | None:
    """Why a plan cannot go on whatever is given again; None: it can."""
    names = [name.lower() for name in withheld(plan.workloads)] if _is_asked_by_flags(plan) else []
    requests = sum(len(workload.requests) for workload in plan.workloads.values())
    values = requests if plan.tried is not None else 1  # of a tryout, all requests send the same headers
    if values * len(set(names)) < len(names):
        return "several of its requests send a header whose value no results file keeps"
    if any(STARS in line for line in _commands(plan)):
        return "its commands hold a password, which no results file keeps"
    return None


def recall(store: Store, known: Catalogue, again: Again, results: Path | None = None) -> None:
    """Take the values of secret headers from where they were. UsageError for one that is missing, or is not asked.

    ``results``: the folder that was named, where it is not the store's own.
    """
    plan = store.plan()
    if _is_asked_by_flags(plan):
        _recall_headers(store, plan, again, results or store.folder)
        return
    for name, _ in again.headers:
        raise UsageError(f"-H '{name}: ...': {store.folder} sends what its workload defines; leave it out")
    store.recall(known)


def _recall_headers(store: Store, plan: Plan, again: Again, folder: Path) -> None:
    if (why := _never_again(plan)) is not None:
        raise UsageError(f"{folder}: {why}: start over")
    lacking, values = withheld(plan.workloads), {name.lower(): value for name, value in again.headers}
    for name in lacking:
        if name.lower() not in values:
            raise UsageError(
                f"{folder}: its requests send the header {name}, whose value no results file keeps: give it again, "
                f"-H '{name}: ...'"
            )
    for name, _ in again.headers:
        if name.lower() not in [each.lower() for each in lacking]:
            raise UsageError(
                f"-H '{name}: ...': {folder} has its requests already; only {_only(lacking)} can be given again"
            )
    asked = {name: filled_in(workload, values) for name, workload in plan.workloads.items()}
    store.recall(msgspec.structs.replace(plan, workloads=asked))


def refuse_variables(plan: Plan, folder: Path, again: Again) -> None:
    """UsageError where a variable of the plan's command was not given again, or is none of it."""
    wanted = _variables(plan)
    for name in wanted:
        if name not in again.variables:
            raise UsageError(
                f"{folder}: no results file keeps the value of --env {name}: give it again, --env {name}=..."
            )
    for name in again.variables:
        if name not in wanted:
            raise UsageError(f"--env {name}: {folder} began without it; only {_only(wanted)} can be given again")


def _only(names: Sequence[str]) -> str:
    return listing(list(dict.fromkeys(names))) or "what no results file keeps, and it lacks nothing,"


@contextmanager
def on_its_machine(
    store: Store, *, wait: bool, far: Cluster | None = None, as_planned: bool = False
) -> Iterator[tuple[Strapped, dict[str, str]]]:
    """This machine, and the versions of the plan's drivers; UsageError on another one.

    ``as_planned``: contenders run as the user whom the plan says, wherever it began.
    """
    plan, was_far = store.plan(), store.fingerprint().driver is not None
    if was_far != (far is not None):
        said = "with its load from another machine: give --far again" if was_far else "on one machine: leave --far out"
        raise UsageError(f"{store.folder}: its runs were made {said}")
    far = wide(far, [trial.load for trial in plan.trials])
    as_user = plan.as_user if as_planned else throwaway_for(plan)
    strapping = strapped_here(
        *(plan.memory_bytes, plan.cores), way=plan.way, as_user=as_user, cpus=plan.cpus, wait=wait, far=far
    )
    with strapping as strapped:
        refuse_another_machine(plan, store.folder, store.fingerprint(), strapped.fingerprint)
        versions = driver_versions(
            dict.fromkeys(trial.driver for trial in plan.trials) or ["engine"], strapped.of_drivers
        )
        note_machine(store, strapped.fingerprint)
        yield strapped, versions


def note_machine(store: Store, here: Fingerprint) -> None:
    """Write down the machine that goes on, and note what differs from before."""
    changed = store.add_fingerprint(with_ceilings(here, cache_folder()))
    note([f"this machine differs from before in {', '.join(changed)}"] if changed else [])


def refuse_another_machine(plan: Plan, folder: Path, before: Fingerprint, here: Fingerprint) -> None:
    """UsageError when a plan would go on on other processors: runs of two machines are never compared."""
    asked = [(field, getattr(before, field), getattr(here, field)) for field in _PROCESSORS]
    if before.driver is not None and here.driver is not None:
        both = before.driver, here.driver
        asked += [(f"{field} of the load's machine", *(getattr(each, field) for each in both)) for field in _PROCESSORS]
    if differs := [f"{field} was {old} and is {new} here" for field, old, new in asked if old != new]:
        command = command_of(plan)
        again = " ".join([command, *(plan.arguments or ([plan.study] if command == "run" else []))])
        raise UsageError(
            f"{folder}: its runs were made on another machine ({', '.join(differs)}), and runs of two machines "
            f"are not compared; start over here: webdyno {again}"
        )


def there_again(known: Catalogue, plan: Plan, folder: Path, strapped: Strapped) -> There:
    """What a plan needs of this machine; UsageError for what it lacks."""
    there = look(known, plan.contenders, plan.workloads, strapped)
    for name, reason in there.missing.items():
        raise UsageError(f"{folder}: its plan needs {name}, but {reason}")
    for name, reason in there.lacking.items():
        raise UsageError(f"{folder}: its plan asks {name}, but {reason}")
    return there


def with_definitions_of(plan: Plan, known: Catalogue) -> Catalogue:
    """The catalogue with the plan's own definitions on top: a plan goes on as it began, whatever was edited since."""
    absent = [name for name in plan.apps if name not in known.app_directories]
    if absent and plan.study in _OURS and command_of(plan) == "run":
        raise UsageError(f"webdyno {plan.study} made these results, and that cannot be resumed: start over")
    if absent:
        raise UsageError(
            f"the plan serves app {absent[0]!r}, which is not in the catalogue; give --catalogue as before"
        )
    return msgspec.structs.replace(
        known,
        contenders={**known.contenders, **plan.contenders},
        apps={**known.apps, **plan.apps},
        runtimes={**known.runtimes, **plan.runtimes},
        workloads={**known.workloads, **plan.workloads},
        services={**known.services, **plan.services},
    )
