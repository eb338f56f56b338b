"""``webdyno compare``: did this change make it slower? Two revisions, two contenders, or two results folders."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from webdyno.commands.options import (
    CatalogueOption,
    JsonOption,
    WaitOption,
    catalogue_of,
    connections_of,
    flag,
    holds_runs,
    say_failed,
    say_json,
)
from webdyno.commands.revising import Revising
from webdyno.commands.studying import LONGEST_LOAD_H, seconds, size_mb
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import BuildError, ContenderError, UsageError
from webdyno.model.load import Load
from webdyno.model.spelling import did_you_mean
from webdyno.session.folders import state_folder
from webdyno.session.saying import say

if TYPE_CHECKING:
    from webdyno.analyse.table import Evidence
    from webdyno.analyse.versus import Versus
    from webdyno.rig.strap import Strapped
    from webdyno.session.ready import Ready

Format = Literal["terminal", "md", "json"]
WORSE, CANNOT_TELL = 1, 3
WARMUP_S = 0.5


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Measuring:
    """The flags that say how pairs are measured."""

    workload: Annotated[
        str | None, flag("--workload", "-w", help="What is asked; the first that both answer when not given.")
    ] = None
    connections: Annotated[int, flag("--connections", "-c", help="Clients that loop.")] = 64
    duration: Annotated[str, flag("--duration", "-d", help="Steady phase of each run.")] = "2s"
    warmup: Annotated[
        str | None,
        flag("--warmup", help="Load before it counts; else 500ms, and what compiles in it is given what it takes."),
    ] = None
    pairs: Annotated[int, flag("--pairs", help="Pairs at most; looks are after 4, 6, 9, 13 and 18.")] = 18
    budget: Annotated[str, flag("--budget", help="How long the pairs may take, builds and warm-ups apart.")] = "10m"
    memory: Annotated[str, flag("--memory", help="Memory limit of each: 512M, 2G, or none.")] = "512M"

    def load(self) -> Load:
        """The load of every run."""
        if not 4 <= self.pairs <= 18:
            raise UsageError(f"--pairs {self.pairs}: give 4 to 18; below, nothing can be told")
        return Load(
            connections=connections_of(self.connections),
            duration_s=seconds(self.duration, "--duration", LONGEST_LOAD_H),
            warmup_s=WARMUP_S if self.warmup is None else seconds(self.warmup, "--warmup", LONGEST_LOAD_H),
        )


_REVISING, _MEASURING = Revising(), Measuring()


def compare(
    *names: Annotated[str, Parameter(help="Base and head: two results folders, or two contenders.")],
    revising: Revising = _REVISING,
    measuring: Measuring = _MEASURING,
    margin: Annotated[float, flag("--margin", help="Changes smaller than so many per cent count as none.")] = 3.0,
    results: Annotated[
        Path | None,
        flag("--results", help="Folder that results folders are made in; ~/.local/state/webdyno when not given."),
    ] = None,
    wait: WaitOption = False,
    format_: Annotated[Format, Parameter(name=["--format", "-f"], help="md: for a pull request.")] = "terminal",
    catalogue: CatalogueOption = None,
    json: JsonOption = False,
) -> int:
    """Compare head with base: faster, slower, the same within a margin, or not to be told.

    Two revisions of a repository (--rev BASE --rev HEAD), or two contenders, are measured in pairs, next to each other
    in time, until it can be told; two results folders are compared as they are. What compiles while it serves (V8,
    HotSpot ...) is first loaded for a while, once per side, to see how long it has to be warmed up. Exit code 0: same
    or better, 1: worse, or head does not serve at all, 3: it cannot be told.

    Example: `webdyno compare --rev main --rev HEAD --cmd 'python app.py {port}'` or `webdyno compare
    results/toys-20261121-120000 results/toys-20261121-130000`
    """
    if not 0 < margin <= 50:
        raise UsageError(f"--margin {margin:g}: give per cent above 0 and up to 50")
    if json and format_ == "md":
        raise UsageError("--json and --format md exclude each other: the answer is told in one form")
    chosen = _Chosen(margin / 100, measuring, revising, results or state_folder(), "json" if json else format_, wait)
    revs, load = revising.check(), measuring.load()
    if revs:
        if names:
            raise UsageError(f"{names[0]}: --rev names what is compared; leave folders and contenders out")
        return _revisions(revs, load, chosen, catalogue_of(catalogue))
    folders = [name for name in names if _is_folder(name)]
    if names and len(folders) == len(names) <= 2:
        return _tell(chosen, [Path(name) for name in names])
    if len(names) != 2:
        raise UsageError("compare what? Give two results folders, two contenders, or --rev BASE --rev HEAD")
    if folders:
        raise UsageError(f"{folders[0]} is a results folder and the other is not: give two of a kind")
    return _contenders(names, load, chosen, catalogue_of(catalogue))


@dataclass(frozen=True)
class _Chosen:
    margin: float
    measuring: Measuring
    revising: Revising
    results: Path
    form: Format
    wait: bool

    @property
    def memory_mb(self) -> int | None:
        return size_mb(self.measuring.memory, "--memory")


def _is_folder(name: str) -> bool:
    return name.endswith("results.sqlite") or (Path(name) / "results.sqlite").is_file()


def _contenders(names: Sequence[str], load: Load, chosen: _Chosen, known: Catalogue) -> int:
    from webdyno.session.folders import new_folder
    from webdyno.session.machine import strapped_here
    from webdyno.session.ready import memory_of, ready_from_catalogue, workload_of

    base, head = names
    for name in names:
        if name not in known.contenders:
            hint = did_you_mean(name, known.contenders, "see: webdyno list contenders")
            raise UsageError(f"{name} is neither a results folder nor a contender; {hint}")
    if base == head:
        raise UsageError(f"{base} against itself: give two contenders")
    asked = workload_of(known, [base, head], chosen.measuring.workload)
    folder = new_folder(chosen.results, "compare")
    with strapped_here(memory_of(chosen.memory_mb), wait=chosen.wait) as (strapped, interrupted):
        about = {"name": "compare", "title": f"{head} against {base}", "memory_mb": chosen.memory_mb, "seed": 1}
        ready = ready_from_catalogue(
            known, [base, head], asked, strapped, interrupted, question=f"Is {head} slower than {base}?", **about
        )
        _measure(ready, (base, head), strapped, folder, load, chosen, interrupted)
    return _stopped(folder) if interrupted.is_set() else _tell(chosen, [folder])


def _revisions(revs: list[str], load: Load, chosen: _Chosen, known: Catalogue) -> int:
    from webdyno.analyse.versus import BASE, HEAD
    from webdyno.session.folders import new_folder
    from webdyno.session.machine import strapped_here
    from webdyno.session.ready import memory_of
    from webdyno.session.revisions import RevisionError, resolve

    flags, folder = chosen.revising, new_folder(chosen.results, "compare")
    with strapped_here(memory_of(chosen.memory_mb), wait=chosen.wait) as (strapped, interrupted):
        commits = resolve(flags.repo, revs, strapped)
        about = {"memory_mb": chosen.memory_mb, "seed": 1}
        try:
            ready = flags.ready(commits, chosen.measuring.workload, known, strapped, interrupted, **about)
        except RevisionError as error:
            return _not_built(error.side == HEAD, error)
        _measure(ready, (BASE, HEAD), strapped, folder, load, chosen, interrupted)
    return _stopped(folder) if interrupted.is_set() else _tell(chosen, [folder])


def _stopped(folder: Path) -> int:
    so_far = f"what the pairs so far say: webdyno compare {folder}" if holds_runs(folder) else "no pair was measured"
    print(f"stopped; {so_far}", file=sys.stderr)
    return 128 + signal.SIGINT


def _not_built(is_head: bool, error: ContenderError) -> int:
    """A head that does not build is worse than any; without a base nothing can be told."""
    say_failed(error)
    return WORSE if is_head else CANNOT_TELL


def _measure(
    ready: Ready,
    names: tuple[str, str],
    strapped: Strapped,
    folder: Path,
    load: Load,
    chosen: _Chosen,
    interrupted: threading.Event,
) -> None:
    from webdyno.design.pairs import Pairs
    from webdyno.session.designs import room_here
    from webdyno.session.lines import PairLines
    from webdyno.session.loop import in_folder
    from webdyno.session.settling import settling_s
    from webdyno.session.warming import warmed

    for name in names:
        if isinstance(failed := ready.built[name], BuildError):
            raise failed
    budget_s = seconds(chosen.measuring.budget, "--budget")
    if chosen.measuring.warmup is None:
        ready = warmed(ready, load, settling_s(budget_s, len(names)), strapped, interrupted)
    if interrupted.is_set():
        return
    design = Pairs(
        plan=ready.plan,
        names=names,
        load=load,
        room=room_here(),
        margin=chosen.margin,
        most=chosen.measuring.pairs,
        budget_s=budget_s,
    )
    with in_folder(ready, strapped, folder, interrupted, [PairLines(design)]) as loop:
        loop.follow(design)
        made = design.made(loop.runs)
    if not interrupted.is_set() and design.is_open(made):
        say(f"the budget is spent after {len(made)} pairs")


def _tell(chosen: _Chosen, folders: Sequence[Path]) -> int:
    """The verdict, from written Runs and nothing else."""
    from webdyno.analyse.table import Evidence
    from webdyno.analyse.versus import outcome_of, over_folders, over_pairs
    from webdyno.store import Store, changes

    evidence = []
    for folder in folders:
        with Store.open(folder) as store:
            evidence.append(Evidence(store.plan(), store.fingerprint(), store.runs()))
    notes: list[str] = []
    if len(evidence) == 1:
        (only,) = evidence
        if only.plan.study != "compare":
            raise UsageError(f"{folders[0]} alone holds no comparison: give two folders, base first")
        base, head = only.plan.contenders
        found = [over_pairs(only, base, head, chosen.margin)]
        notes += [*_warm_ups(only), f"Results: {folders[0]}"]
        named = only.plan.title.partition(" against ")
        names = (named[2], named[0])
    else:
        found = over_folders(evidence[0], evidence[1], chosen.margin)
        notes.append(
            "note: measured in two sittings: what changed on the machine in between is not told apart from the change"
        )
        differ = changes(evidence[0].fingerprint, evidence[1].fingerprint)
        notes += [f"note: the machines differ in {', '.join(differ)}"] if differ else []
        names = (str(folders[0]), str(folders[1]))
    _say(chosen.form, names, found, notes)
    if len(evidence) == 1 and _serves_nothing(evidence[0]):
        return WORSE
    return {"worse": WORSE, "cannot tell": CANNOT_TELL}.get(outcome_of(found), 0)


def _serves_nothing(evidence: Evidence) -> bool:
    """Whether its last contender, which is head, never served: then it is no good, whatever base did."""
    from webdyno.analyse.window import BLAMELESS

    head, unknown = list(evidence.plan.contenders)[-1], {"interrupted", *BLAMELESS}
    outcomes = {run.outcome for run in evidence.runs if run.trial.contender == head} - unknown
    return bool(outcomes) and "ok" not in outcomes


def _warm_ups(evidence: Evidence) -> list[str]:
    """What was given to sides in which a compiler works, as it stands in their Runs."""
    from webdyno.analyse.words import listing

    sides: dict[float, list[str]] = {}
    given = {run.trial.contender: run.trial.warmup_s for run in evidence.runs if run.compilers and run.trial.warmup_s}
    for name, warmup_s in given.items():
        sides.setdefault(warmup_s, []).append(name)
    return [
        f"note: each start of {listing(names)} was given {warmup_s:g} s to warm up, for it compiles while it serves"
        for warmup_s, names in sides.items()
    ]


def _say(form: Format, names: tuple[str, str], found: Sequence[Versus], notes: Sequence[str]) -> None:
    from webdyno.analyse.versus import outcome_of
    from webdyno.report.versus import sentence, versus_lines, versus_markdown

    if form == "json":
        told = [sentence(names, each) for each in found]
        data = {"base": names[0], "head": names[1], "outcome": outcome_of(found), "sentences": told}
        say_json(data | {"tables": found, "notes": notes})
    elif form == "md":
        sys.stdout.write(versus_markdown(names, found, notes))
    else:
        for line in versus_lines(names, found, notes):
            print(line)
