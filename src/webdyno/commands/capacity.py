"""``webdyno capacity``: how many requests per second can it serve while its objectives are met?"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from cyclopts import Parameter

from webdyno.analyse.objectives import Objective
from webdyno.commands.completing import contenders
from webdyno.commands.loading.targets import Asking, header_of
from webdyno.commands.options import (
    AsUserOption,
    CatalogueOption,
    JsonOption,
    ResultsOption,
    ResumeOption,
    WaitOption,
)
from webdyno.commands.placing import Placing
from webdyno.commands.printing import err, out, say_failed, say_json
from webdyno.commands.searching import Aim, Searching
from webdyno.commands.slo import objectives
from webdyno.commands.trusting import TrustOption, agreeing, catalogue_to_run
from webdyno.commands.units import size_mb
from webdyno.model.again import Again
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import ContenderError, UsageError
from webdyno.model.secret import hidden_line
from webdyno.model.sought import Sought
from webdyno.model.spelling import did_you_mean
from webdyno.model.trial import Plan
from webdyno.session.interrupts import listening_for_interrupts
from webdyno.session.saying import say
from webdyno.session.target import one_server
from webdyno.session.trust import throwaway
from webdyno.session.waiting import waiting

if TYPE_CHECKING:
    from webdyno.analyse.table import Evidence
    from webdyno.session.loop import Loop


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Going(Placing):
    """The flags that say where results go, and how it is gone about and printed."""

    results: ResultsOption = Path("results")
    wait: WaitOption = False
    as_user: AsUserOption = None
    catalogue: CatalogueOption = None
    trust: TrustOption = False
    json: JsonOption = False

    @property
    def begins(self) -> bool:
        """Whether a flag says how a search begins."""
        return (self.results, self.as_user) != (Path("results"), None)


_AIM, _ASKING, _SEARCHING, _GOING = Aim(), Asking(), Searching(), Going()


def capacity(
    target: Annotated[
        str | None,
        Parameter(help="A contender, a URL, or a results folder of an earlier search.", completer=contenders),
    ] = None,
    /,
    *,
    aim: Aim = _AIM,
    searching: Searching = _SEARCHING,
    asking: Asking = _ASKING,
    resume: ResumeOption = None,
    going: Going = _GOING,
) -> int:
    """Search for the highest rate at which a server meets its objectives.

    Requests are sent at a fixed rate, and latency counts from the moment each was due. The answer is the rate that half
    of all starts of the server meet, with its 95 % interval, and the curve of latency against rate. A contender is
    restarted for every trial; a URL gets time to recover between trials, and its server may share its cores with the
    load generator. The exit code is 1 if the objectives are
    never met. Ctrl-C keeps the trials so far, and `--resume` continues.

    Example: `webdyno capacity waitress --slo 'p99<50ms, errors<0.1%'` or `webdyno capacity http://127.0.0.1:8000/
    --slo 'p99<20ms' --budget 1m`
    """
    known = catalogue_to_run(going.catalogue, going.trust)
    if resume is not None:
        if target is not None or going.begins or (aim, searching) != (_AIM, _SEARCHING):
            raise _not_with_resume()
        return _resumed(resume, _again(asking), known, going)
    if target is None:
        raise UsageError("capacity of what? Name a contender (see: webdyno list), give a URL, or --resume FOLDER")
    if target not in known.contenders and _is_folder(target):
        return _tell(Path(target), _sought_again(Path(target), aim, searching), json=going.json)
    sought = searching.sought(aim.given_slo, verify=not aim.insecure)
    chosen = _Chosen(target, sought, _objectives(sought.slo), searching.seed, going)
    if target in known.contenders:
        return _of_contender(chosen, known, aim, asking)
    _refuse_as_url(target, aim.workload, known)
    return _of_url(chosen, asking)


def _not_with_resume() -> UsageError:
    return UsageError("--resume continues a search as it was begun, so the only other flag it takes is -H")


def _again(asking: Asking) -> Again:
    """What no results file keeps; UsageError for all else."""
    if replace(asking, header=None) != _ASKING:
        raise _not_with_resume()
    return Again(headers=[header_of(line) for line in asking.header or []])


def _is_folder(target: str) -> bool:
    return (Path(target) / "results.sqlite").is_file() or target.endswith("results.sqlite")


def _sought_again(folder: Path, aim: Aim, searching: Searching) -> Sought:
    """What an earlier search was after, where no flag says otherwise."""
    from webdyno.store import Store

    with Store.open(folder) as store:
        before = store.plan().sought
    if before is None or searching != _SEARCHING:
        return searching.sought(aim.given_slo)
    return before if aim.slo is None else msgspec.structs.replace(before, slo=aim.slo)


def _refuse_as_url(target: str, workload: str | None, known: Catalogue) -> None:
    """UsageError for what cannot be a URL, and for a flag that does not go with one."""
    if "/" not in target and ":" not in target and "." not in target:
        hint = did_you_mean(target, known.contenders, "webdyno list shows them.")
        raise UsageError(f"there is no contender {target!r}; {hint} A URL begins with http://")
    if Path(target).is_dir():
        raise UsageError(f"{target}: no results here (no results.sqlite)")
    if workload is not None:
        raise UsageError("--workload is only for a contender: the request to a URL is in the URL")


@dataclass(frozen=True)
class _Chosen:
    target: str
    sought: Sought
    wanted: Sequence[Objective]
    seed: int
    going: Going

    @property
    def title(self) -> str:
        return f"Capacity of {hidden_line(self.target)}"

    @property
    def question(self) -> str:
        return f"How many requests per second does {hidden_line(self.target)} take while {self.sought.slo}?"


def _objectives(slo: str) -> list[Objective]:
    wanted = objectives(slo)
    if not wanted:
        raise UsageError("--slo is empty: write what must be met, such as 'p99<50ms, errors<0.1%'")
    for objective in wanted:
        if objective.what == "rate":
            raise UsageError(f"--slo {objective.text!r}: the rate is what is searched for; give latencies or errors")
    return wanted


def _of_contender(chosen: _Chosen, known: Catalogue, aim: Aim, asking: Asking) -> int:
    from webdyno.session.folders import new_folder
    from webdyno.session.lines import RateLines
    from webdyno.session.loop import in_folder
    from webdyno.session.machine import strapped_here
    from webdyno.session.ready import memory_of, ready_from_catalogue, workload_of

    if asking != _ASKING or aim.insecure:
        it = chosen.target
        raise UsageError(f"{it} is a contender, and its workload defines the requests: give --workload, or a URL")
    asked_of, memory_mb = workload_of(known, [chosen.target], aim.workload), size_mb(aim.memory, "--memory")
    folder = new_folder(chosen.going.results, "capacity")
    going = chosen.going
    as_user = throwaway(going.as_user, going.catalogue or [])
    with strapped_here(memory_of(memory_mb), as_user=as_user, wait=going.wait, far=going.cluster) as strapped:
        about = {"name": "capacity", "title": chosen.title, "question": chosen.question}
        ready = ready_from_catalogue(
            known, [chosen.target], asked_of, strapped, seed=chosen.seed, memory_mb=memory_mb, as_user=as_user, **about
        )
        plan = msgspec.structs.replace(ready.plan, sought=chosen.sought, arguments=chosen.going.arguments)
        ready = replace(ready, plan=plan)
        with in_folder(ready, strapped, folder, [RateLines(chosen.wanted)]) as loop:
            _search(loop, ready.plan, chosen.sought, chosen.wanted)
    return _ended(folder, chosen.sought, chosen.going, stopped=strapped.interrupted.is_set())


def _of_url(chosen: _Chosen, asking: Asking) -> int:
    from webdyno.session.by_url import url_at_work, url_plan
    from webdyno.session.folders import new_folder
    from webdyno.session.lines import RateLines
    from webdyno.session.searching import far_of

    if chosen.going.cluster is not None:
        raise UsageError("--far starts a contender here and loads it from there: load a URL from a host near to it")
    (target,) = one_server((chosen.target,))
    requests = asking.requests([target])
    folder = new_folder(chosen.going.results, "capacity")
    plan = url_plan("capacity", target, requests, chosen.title, chosen.question, chosen.seed)
    plan = msgspec.structs.replace(plan, sought=chosen.sought)
    far = far_of(plan, chosen.wanted)
    with listening_for_interrupts() as interrupted:
        turn = waiting(chosen.going.wait, interrupted)
        with url_at_work(plan, far, folder, interrupted, [RateLines(chosen.wanted)], turn) as loop:
            _search(loop, plan, chosen.sought, chosen.wanted)
    return _ended(folder, chosen.sought, chosen.going, stopped=interrupted.is_set())


def _resumed(folder: Path, again: Again, known: Catalogue, going: Going) -> int:
    from webdyno.session.resuming import not_by, opened
    from webdyno.session.searching import at_work_again, is_open

    stopped = False
    with opened(folder) as store:
        plan, folder = store.plan(), store.folder
        if plan.sought is None:
            raise not_by("capacity", plan, folder)
        wanted = _objectives(plan.sought.slo)
        if not is_open(plan, store.runs(), wanted):
            say(f"nothing is left to measure in {folder}")
        else:
            agree, far = agreeing(going.trust), going.cluster
            with at_work_again(store, known, again, wanted, wait=going.wait, agree=agree, far=far) as loop:
                _search(loop, store.plan(), plan.sought, wanted)
                stopped = loop.is_interrupted
    return _ended(folder, plan.sought, going, stopped=stopped)


def _search(loop: Loop, plan: Plan, sought: Sought, wanted: Sequence[Objective]) -> None:
    """Until it is known, or time is up; a server that fails ends it with its own words, and what there is is told."""
    from webdyno.analyse.words import count
    from webdyno.design.rate_search import never_served, search_of

    design = search_of(plan, sought, wanted)
    try:
        loop.follow(design)
    except ContenderError as error:
        say_failed(error)
    runs = loop.runs
    for run in filter(never_served, runs):
        say_failed(ContenderError(f"{run.trial.contender}: {run.outcome}: {run.message}", run.log_tail))
    if not loop.is_interrupted and design.next_per_s(runs) is not None and design.is_spent(runs):
        say(f"the budget is spent after {count(len(runs), 'trial')}")


def _ended(folder: Path, sought: Sought, going: Going, *, stopped: bool) -> int:
    code = _tell(folder, sought, json=going.json)
    if not stopped:
        return code
    if (line := _to_go_on(folder, going.catalogue or [])) is not None:
        err(f"stopped; to go on: {line}")
    return 128 + signal.SIGINT


def _to_go_on(folder: Path, catalogues: Sequence[Path]) -> str | None:
    """The command line; None where nothing is left."""
    from webdyno.session.resuming import line_of
    from webdyno.session.searching import is_open
    from webdyno.store import Store

    with Store.open(folder) as store:
        plan, runs = store.plan(), store.runs()
    wanted = _objectives(plan.sought.slo) if plan.sought else []
    return line_of(plan, folder, catalogues) if is_open(plan, runs, wanted) else None


def _tell(folder: Path, sought: Sought, *, json: bool) -> int:
    """The answer, from the written Runs and nothing else."""
    from webdyno.analyse.capacity import capacity_of
    from webdyno.analyse.table import Evidence
    from webdyno.design.rate_search import NEVER_SERVED, goal_of, tried_of
    from webdyno.report.capacity import answer, capacity_lines
    from webdyno.store import Store

    with Store.open(folder) as store:
        plan, fingerprint, runs = store.plan(), store.fingerprint(), store.runs()
    if plan.study != "capacity":
        raise UsageError(
            f"{folder} has no search for a capacity, but study {plan.study!r}: see webdyno report {folder}"
        )
    counted = [run for run in runs if run.outcome not in ("interrupted", *NEVER_SERVED)]
    wanted = _objectives(sought.slo)
    found = capacity_of([tried_of(run, wanted) for run in counted], goal_of(sought))
    (name,) = plan.contenders
    by_url = "url" in plan.workloads
    what = plan.workloads["url"].title if by_url else name
    doubts = _doubts(Evidence(plan, fingerprint, runs))
    if by_url:
        doubts += dict.fromkeys(note for run in runs for note in run.notes)
    if json:
        sentence = answer(what, sought.slo, found)
        say_json({"slo": sought.slo, "sentence": sentence, "capacity": found, "doubts": doubts, "folder": str(folder)})
    else:
        for line in capacity_lines(what, sought.slo, found, doubts, "trials" if by_url else "starts"):
            out(line)
        out(f"Results: {folder}")
    return 0 if found.rate is not None or found.at_least_per_s is not None else 1


def _doubts(evidence: Evidence) -> list[str]:
    """About machine and warm-up; that of a plan cut short is none here, and each rate has a table of its own."""
    from dataclasses import replace

    from webdyno.analyse.doubts import about_contender, about_study, about_table
    from webdyno.analyse.doubts.machine import noisy_host
    from webdyno.analyse.doubts.rounds import incomplete
    from webdyno.analyse.doubts.table import kind_of
    from webdyno.analyse.doubts.warming import cold_compiler
    from webdyno.analyse.table import tables

    found = about_study(evidence)
    if every := tables(evidence):
        windows = tuple(window for table in every for window in table.windows)
        whole = replace(every[0], cells=(replace(every[0].cells[0], windows=windows),))
        about = [*about_table(whole), *about_contender(whole.cells[0])]
        found += [doubt for doubt in about if doubt.kind in (kind_of(noisy_host), kind_of(cold_compiler))]
    return [doubt.sentence for doubt in found if doubt.kind != kind_of(incomplete)]
