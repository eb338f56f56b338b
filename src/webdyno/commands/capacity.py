"""``webdyno capacity``: how many requests per second does it take while its objectives are met?"""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from webdyno.analyse.objectives import LATENCIES, Objective
from webdyno.commands.loading.targets import Asking
from webdyno.commands.options import (
    CatalogueOption,
    JsonOption,
    ResultsOption,
    WaitOption,
    catalogue_of,
    connections_of,
    flag,
    say_failed,
    say_json,
)
from webdyno.commands.slo import objectives
from webdyno.commands.studying import LONGEST_LOAD_H, seconds, size_mb
from webdyno.load.driver import Tls
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import ContenderError, UsageError
from webdyno.model.spelling import did_you_mean
from webdyno.model.trial import Plan
from webdyno.model.workload import Request
from webdyno.session.interrupts import listening_for_interrupts
from webdyno.session.saying import say
from webdyno.session.target import Target, one_server
from webdyno.session.waiting import waiting

if TYPE_CHECKING:
    from webdyno.analyse.capacity import Search
    from webdyno.analyse.table import Evidence
    from webdyno.session.loop import Loop


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Searching:
    """The flags that say how the capacity is searched."""

    budget: Annotated[str, flag("--budget", help="How long the search may take, builds apart.")] = "3m"
    duration: Annotated[str, flag("--duration", "-d", help="Steady phase of each trial.")] = "3s"
    warmup: Annotated[str, flag("--warmup", help="Load before it counts; more where a file asks.")] = "500ms"
    first: Annotated[float, flag("--from", help="First rate, per second; it is doubled while it is met.")] = 100.0
    most: Annotated[float, flag("--most", help="Highest rate to ask for, per second.")] = 1e6
    precision: Annotated[
        float, flag("--precision", help="Half the interval, in per cent of the rate, that ends the search.")
    ] = 5.0
    even: Annotated[bool, flag("--even", help="Requests evenly spaced, not at random (Poisson) as users come.")] = False
    max_connections: Annotated[
        int | None, flag("--max-connections", help="How far the connections may grow; twice what the objective needs.")
    ] = None
    seed: Annotated[int, flag("--seed", help="Of the arrivals.")] = 1

    def check(self) -> None:
        """UsageError for a number that makes no sense."""
        for name, value, least in (("--from", self.first, 0.0), ("--most", self.most, 0.0)):
            if not (math.isfinite(value) and value > least):
                raise UsageError(f"{name} {value:g}: give a rate above 0, in requests per second")
        if self.most < self.first:
            raise UsageError(f"--most {self.most:g} is below --from {self.first:g}: give a higher one")
        if not 0.5 <= self.precision <= 50:
            raise UsageError(f"--precision {self.precision:g}: give per cent from 0.5 to 50")
        seconds(self.budget, "--budget")
        for name, text in (("--duration", self.duration), ("--warmup", self.warmup)):
            seconds(text, name, LONGEST_LOAD_H)
        if self.max_connections is not None:
            connections_of(self.max_connections, "--max-connections")
        if self.seed < 0:
            raise UsageError(f"--seed {self.seed}: give a whole number of at least 0")


_FEWEST = 10
"""Requests of a trial, below which it says little of a rate; arrivals at random may then be none at all."""
_ASKING, _SEARCHING = Asking(), Searching()


def capacity(
    target: Annotated[str, Parameter(help="A contender, a URL, or a results folder of an earlier search.")],
    /,
    *,
    slo: Annotated[str, flag("--slo", help="What must be met: 'p99<50ms, errors<0.1%'.")],
    searching: Searching = _SEARCHING,
    workload: Annotated[
        str | None, flag("--workload", "-w", help="Of the contender; the first it answers when not given.")
    ] = None,
    memory: Annotated[str, flag("--memory", help="Memory limit of the contender: 512M, 2G, or none.")] = "512M",
    asking: Asking = _ASKING,
    insecure: Annotated[bool, flag("--insecure", "-k", help="With https: take any certificate.")] = False,
    results: ResultsOption = Path("results"),
    wait: WaitOption = False,
    catalogue: CatalogueOption = None,
    json: JsonOption = False,
) -> int:
    """Search the highest rate at which a server meets its objectives.

    Requests come at a rate of their own and latency counts from the moment each was due. The answer is the rate that
    half of all starts of the server meet, with its 95 % interval, and the curve of latency against rate. A contender is
    started anew for every trial; of a URL it is waited until it has recovered. Exit code 1 when the objectives are
    never met.

    Example: `webdyno capacity waitress --slo 'p99<50ms, errors<0.1%'` or `webdyno capacity http://127.0.0.1:8000/
    --slo 'p99<20ms' --budget 1m`
    """
    wanted = _objectives(slo)
    searching.check()
    known = catalogue_of(catalogue)
    if target in known.contenders:
        if asking != _ASKING or insecure:
            raise UsageError(f"{target} is a contender, whose workload says what is asked: give --workload, or a URL")
        chosen = _Chosen(target, slo, wanted, searching, results, json, wait)
        return _of_contender(chosen, known, workload, size_mb(memory, "--memory"))
    if (Path(target) / "results.sqlite").is_file() or target.endswith("results.sqlite"):
        return _tell(_Chosen(target, slo, wanted, searching, Path(target), json), Path(target))
    _refuse_as_url(target, workload, known)
    return _of_url(_Chosen(target, slo, wanted, searching, results, json, wait), asking, verify=not insecure)


def _refuse_as_url(target: str, workload: str | None, known: Catalogue) -> None:
    """UsageError for what cannot be a URL, and for a flag that does not go with one."""
    if "/" not in target and ":" not in target and "." not in target:
        hint = did_you_mean(target, known.contenders, "webdyno list shows them.")
        raise UsageError(f"there is no contender {target!r}; {hint} A URL begins with http://")
    if Path(target).is_dir():
        raise UsageError(f"{target}: no results here (no results.sqlite)")
    if workload is not None:
        raise UsageError("--workload goes with a contender: what is asked of a URL is in the URL")


@dataclass(frozen=True)
class _Chosen:
    target: str
    slo: str
    wanted: Sequence[Objective]
    searching: Searching
    results: Path
    json: bool
    wait: bool = False

    @property
    def title(self) -> str:
        return f"Capacity of {self.target}"

    @property
    def question(self) -> str:
        return f"How many requests per second does {self.target} take while {self.slo}?"


def _objectives(slo: str) -> list[Objective]:
    wanted = objectives(slo)
    if not wanted:
        raise UsageError("--slo is empty: write what must be met, such as 'p99<50ms, errors<0.1%'")
    for objective in wanted:
        if objective.what == "rate":
            raise UsageError(f"--slo {objective.text!r}: the rate is what is searched; give latencies or errors")
    return wanted


def _of_contender(chosen: _Chosen, known: Catalogue, workload: str | None, memory_mb: int | None) -> int:
    from webdyno.session.folders import new_folder
    from webdyno.session.lines import RateLines
    from webdyno.session.loop import in_folder
    from webdyno.session.machine import strapped_here
    from webdyno.session.ready import memory_of, ready_from_catalogue, workload_of

    asked_of = workload_of(known, [chosen.target], workload)
    folder = new_folder(chosen.results, "capacity")
    with strapped_here(memory_of(memory_mb), wait=chosen.wait) as (strapped, interrupted):
        ready = ready_from_catalogue(
            known,
            [chosen.target],
            asked_of,
            strapped,
            interrupted,
            name="capacity",
            title=chosen.title,
            question=chosen.question,
            seed=chosen.searching.seed,
            memory_mb=memory_mb,
        )
        with in_folder(ready, strapped, folder, interrupted, [RateLines(chosen.wanted)]) as loop:
            _search(chosen, loop, ready.plan)
    return _ended(chosen, folder, interrupted)


def _of_url(chosen: _Chosen, asking: Asking, *, verify: bool) -> int:
    from webdyno.session.by_url import Far, url_at_work, url_plan
    from webdyno.session.folders import new_folder
    from webdyno.session.lines import RateLines

    (target,) = one_server((chosen.target,))
    requests = asking.requests([target])
    folder = new_folder(chosen.results, "capacity")
    notes = _first_answers(target, requests, Tls(verify=verify) if target.tls else None)
    idle_ns = min((each.bound for each in chosen.wanted if each.what in LATENCIES), default=float("inf"))
    plan = url_plan("capacity", target, requests, chosen.title, chosen.question, chosen.searching.seed)
    far = Far(target=target, requests=requests, verify=verify, idle_ns=idle_ns, notes=notes)
    with listening_for_interrupts() as interrupted:
        turn = waiting(chosen.wait, interrupted)
        with url_at_work(plan, far, folder, interrupted, [RateLines(chosen.wanted)], turn) as loop:
            _search(chosen, loop, plan)
    return _ended(chosen, folder, interrupted)


def _first_answers(target: Target, requests: list[Request], tls: Tls | None) -> list[str]:
    """What is to be read beside the figures. UsageError for a first answer that is hardly meant, ContenderError where
    nobody listens; one that does not come is the search's to tell."""
    from webdyno.commands.loading.first import judged
    from webdyno.serve.ask import NoAnswer, Refused

    try:
        found = judged(target.host, target.port, requests, tls)
    except Refused:
        raise ContenderError(
            f"{target.url}: the connection was refused: nothing listens there; start the server first"
        ) from None
    except NoAnswer:
        return []
    for status, sentence in found:
        if status >= 300:
            raise UsageError(sentence)
    return [sentence for _, sentence in found]


def _search(chosen: _Chosen, loop: Loop, plan: Plan) -> None:
    """Until it is known, or time is up; a server that fails ends it with its own words, and what there is is told."""
    from webdyno.design.rate_search import Asked, RateSearch, never_served

    flags = chosen.searching
    asked = Asked(
        duration_s=seconds(flags.duration, "--duration"),
        warmup_s=seconds(flags.warmup, "--warmup"),
        even=flags.even,
        seed=flags.seed,
        max_connections=flags.max_connections,
        wanted=chosen.wanted,
    )
    design = RateSearch(plan=plan, asked=asked, goal=_goal(flags), budget_s=seconds(flags.budget, "--budget"))
    try:
        loop.follow(design)
    except ContenderError as error:
        say_failed(error)
    runs = loop.runs
    for run in filter(never_served, runs):
        say_failed(ContenderError(f"{run.trial.contender}: {run.outcome}: {run.message}", run.log_tail))
    if not loop.is_interrupted and design.next_per_s(runs) is not None and design.is_spent(runs):
        say(f"the budget is spent after {len(runs)} trials")


def _goal(flags: Searching) -> Search:
    from webdyno.analyse.capacity import Search

    return Search(
        first_per_s=flags.first,
        lowest_per_s=min(max(1.0, _FEWEST / seconds(flags.duration, "--duration")), flags.first),
        highest_per_s=flags.most,
        precision=flags.precision / 100,
    )


def _ended(chosen: _Chosen, folder: Path, interrupted: threading.Event) -> int:
    code = _tell(chosen, folder)
    return 128 + signal.SIGINT if interrupted.is_set() else code


def _tell(chosen: _Chosen, folder: Path) -> int:
    """The answer, from the written Runs and nothing else."""
    from webdyno.analyse.capacity import capacity_of
    from webdyno.analyse.table import Evidence
    from webdyno.design.rate_search import NEVER_SERVED, tried_of
    from webdyno.report.capacity import answer, capacity_lines
    from webdyno.store import Store

    with Store.open(folder) as store:
        plan, fingerprint, runs = store.plan(), store.fingerprint(), store.runs()
    if plan.study != "capacity":
        raise UsageError(
            f"{folder} holds no search for a capacity but study {plan.study!r}: see webdyno report {folder}"
        )
    counted = [run for run in runs if run.outcome not in ("interrupted", *NEVER_SERVED)]
    found = capacity_of([tried_of(run, chosen.wanted) for run in counted], _goal(chosen.searching))
    (name,) = plan.contenders
    by_url = "url" in plan.workloads
    what = plan.workloads["url"].title if by_url else name
    doubts = _doubts(Evidence(plan, fingerprint, runs))
    if by_url:
        doubts.append("webdyno did not start the server: it may share its cores with the load generator")
        doubts += dict.fromkeys(note for run in runs for note in run.notes)
    if chosen.json:
        sentence = answer(what, chosen.slo, found)
        say_json({"slo": chosen.slo, "sentence": sentence, "capacity": found, "doubts": doubts, "folder": str(folder)})
    else:
        for line in capacity_lines(what, chosen.slo, found, doubts, "trials" if by_url else "starts"):
            print(line)
        print(f"Results: {folder}")
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
