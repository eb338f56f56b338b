"""``webdyno run``: plan, build, then Trial after Trial, each recorded when it is over; at the end the report."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from webdyno.analyse.patience import too_short
from webdyno.analyse.words import count, length, listing
from webdyno.commands.metering import Meter, MetricsOption, check, put
from webdyno.commands.options import CatalogueOption, JsonOption, ResultsOption, ResumeOption, WaitOption
from webdyno.commands.placing import Spreading
from webdyno.commands.printing import err, give, out
from webdyno.commands.progress import progress
from webdyno.commands.racing import Racing, costs, extent
from webdyno.commands.report import show
from webdyno.commands.sharing import clause
from webdyno.commands.studying import Narrowing, StudyArgument
from webdyno.commands.trusting import TrustOption, agreeing, catalogue_to_run, with_user
from webdyno.design.blocks import sharing
from webdyno.model.errors import UsageError
from webdyno.model.trial import Plan
from webdyno.session.listeners import Listener
from webdyno.session.lookup import study_called
from webdyno.session.reports import rendered, write
from webdyno.session.resuming import line_of
from webdyno.session.study import Attend, Ended, Intent, Manner, begin
from webdyno.session.study import resume as continued
from webdyno.store import Store


def run(
    study: StudyArgument | None = None,
    /,
    *,
    narrowing: Narrowing = Narrowing(),  # noqa: B008 - frozen
    racing: Racing = Racing(),  # noqa: B008 - frozen
    placing: Spreading = Spreading(),  # noqa: B008 - frozen
    resume: ResumeOption = None,
    results: ResultsOption = Path("results"),
    metrics: MetricsOption = None,
    wait: WaitOption = False,
    catalogue: CatalogueOption = None,
    trust: TrustOption = False,
    json: JsonOption = False,
) -> int:
    """Run a study: every contender on every workload, in rounds of random order. Report which wins, and how certain.

    If its only question is rates, the study is run as a race: three rounds of everything, then only what can still
    decide something, with at most as many runs as the full rounds would take. `--exhaustive` runs all rounds.

    Ctrl-C ends it cleanly: what was measured is kept, and `--resume` continues.

    Example: `webdyno run quickstart`
    """
    check(metrics)
    known = catalogue_to_run(catalogue, trust)
    manner = Manner(
        announce=_announce, attend=_attending(metrics), wait=wait, agree=agreeing(trust), far=placing.cluster
    )
    if resume is not None:
        as_planned = _as_planned(study, narrowing, racing)
        manner = replace(manner, as_planned=as_planned, further_s=racing.further_s)
        return _finish(continued(resume, known, manner=manner), json, metrics)
    if study is None:
        raise UsageError("run what? Name a study (see: webdyno list studies), a study file, or --resume FOLDER")
    chosen = with_user(narrowing.of(study_called(study, known), known), narrowing.as_user, catalogue)
    more = [part for path in catalogue or [] for part in ("--catalogue", str(path))]
    again = [study, *narrowing.arguments, *placing.arguments, *more]
    ended = begin(chosen, known, results, choice=racing.choice, arguments=again, brief=narrowing.brief, manner=manner)
    return _finish(ended, json, metrics)


def _as_planned(study: str | None, narrowing: Narrowing, racing: Racing) -> bool:
    """Whether --no-as-user leaves it to the plan as whom contenders run; UsageError for what changes a plan."""
    as_planned = narrowing == Narrowing(as_user=False)
    if study is not None or not (narrowing.is_empty or as_planned) or replace(racing, further=None) != Racing():
        raise UsageError("--resume continues a plan as it was made; it takes no study and no flag that changes one")
    return as_planned


def _announce(intent: Intent) -> None:
    """What will happen and how long it takes, before it happens."""
    plan, already = intent.plan, intent.already
    share = 1 - len(already) / len(plan.trials)
    most = "at most" if plan.race is not None else "about"
    done = f", {len(already)} of them done" if already else ""
    drivers = [f"{name} {intent.drivers[name]}" for name in dict.fromkeys(trial.driver for trial in plan.trials)]
    takes = length(plan.seconds * share / intent.hosts)
    err(f"{plan.title}: {plan.question}")
    err(
        f"{count(len(plan.contenders), 'contender')}, {count(len(plan.workloads), 'workload')}, {extent(plan)}{done}, "
        f"{most} {takes} after the build; {clause(sharing(plan, intent.room), plan)}\n"
        f"load by {listing(drivers)}; results in {intent.folder}"
    )
    for sentence in (*costs(plan), *too_short(plan)):
        err(sentence)
    for skip in plan.skipped:
        err(f"skipped {skip.what}: {skip.reason}")


def _attending(metrics: Path | None) -> Attend:
    """Progress on standard error, and the file of ``--metrics``."""

    @contextmanager
    def attend(store: Store, plan: Plan) -> Iterator[Sequence[Listener]]:
        with progress(plan, store.done(), len(store.fingerprint().fleet) or 1) as shown:
            yield [shown, *([Meter(metrics, plan, store.fingerprint(), store.runs())] if metrics else [])]

    return attend


def _finish(ended: Ended, json: bool, metrics: Path | None) -> int:
    folder, interrupted = ended
    with Store.open(folder) as store:
        runs = store.runs()
        if json:
            give([rendered(store, "json")])
        elif runs:
            write(folder / "report.html", rendered(store, "html"))
            show(store, folder)
            view = shlex.join(["webdyno", "view", str(folder.parent)])
            out(f"Report: {folder / 'report.html'}; in a browser: {view}")
        if metrics is not None and runs:
            put(metrics, rendered(store, "openmetrics"))
        plan = store.plan()
        done = len(store.done())
        left = "" if plan.race is not None else f" {len(plan.trials) - done} trials left:"
    if interrupted:
        left = left if done else " nothing was measured yet; to begin the same plan again:"
        given = zip(plan.arguments, plan.arguments[1:], strict=False)
        line = line_of(plan, folder, [path for name, path in given if name == "--catalogue"])
        err(f"stopped;{left} {line}")
        return 128 + signal.SIGINT
    return 1 if any(record.outcome != "ok" for record in runs) else 0
