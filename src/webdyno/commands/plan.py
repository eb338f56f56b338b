"""``webdyno plan``: what ``run`` would do, in which order and for how long. Measures and changes nothing."""

from __future__ import annotations

from typing import Annotated

import msgspec
from cyclopts import Parameter

from webdyno.analyse import words
from webdyno.analyse.patience import too_short
from webdyno.commands.options import CatalogueOption, JsonOption, catalogue_of
from webdyno.commands.printing import out, out_console, say_json
from webdyno.commands.racing import Racing, costs, extent
from webdyno.commands.sharing import sentence as seating
from webdyno.commands.studying import Narrowing, StudyArgument
from webdyno.commands.trusting import TrustOption, agreeing, with_user
from webdyno.design.blocks import Sharing, sharing
from webdyno.model.outward import clean
from webdyno.model.trial import Plan
from webdyno.model.way import AS_USER, OWN_NETWORK
from webdyno.plan import brief_of, make_plan
from webdyno.rig.here import Here
from webdyno.session.designs import room_here
from webdyno.session.lookup import look_for_drivers, look_for_runtimes, refuse_what_the_driver_cannot, study_called
from webdyno.session.services import look_for_services
from webdyno.session.trust import ask_for_catalogues


def plan(
    study: StudyArgument,
    /,
    *,
    narrowing: Narrowing = Narrowing(),  # noqa: B008 - frozen
    racing: Racing = Racing(),  # noqa: B008 - frozen
    full: Annotated[bool, Parameter(name=["--full"], help="Show every trial, not only the first ten.")] = False,
    catalogue: CatalogueOption = None,
    trust: TrustOption = False,
    json: JsonOption = False,
) -> int:
    """Show what a study would do here: its trials in order, what is skipped and why, and how long it takes.

    Example: `webdyno plan quickstart --rounds 5`
    """
    known = catalogue_of(catalogue)
    started = [folder for folder in catalogue or [] if (folder / "runtimes").is_dir()]  # for their versions
    ask_for_catalogues(started, known, agreeing(trust))
    called = study_called(study, known)
    chosen = with_user(narrowing.of(called, known), narrowing.as_user, catalogue)
    refuse_what_the_driver_cannot(chosen, known)
    there, missing = look_for_runtimes(known, chosen.contenders, Here(), fetch=False)
    _, lacking = look_for_services(known, chosen.workloads, Here(), apart=chosen.as_user)
    _, absent = look_for_drivers(chosen, Here())
    raced = racing.choice.rounds_of(chosen)
    made = racing.choice.on(make_plan(raced, known, missing, lacking, absent, brief=narrowing.brief), chosen)
    seated = sharing(made, room_here())
    if json:
        say_json({**msgspec.structs.asdict(made), "sharing": seated})
        return 0
    coming = [f"{name}: {there[name].comes_from}" for name in made.runtimes if name in there and there[name].comes_from]
    _print(made, seated, coming, full)
    if called.brief is not None and narrowing.is_empty:
        short = make_plan(brief_of(called), known, missing, lacking, absent, brief=True)
        out(f"in brief: {words.count(len(short.trials), 'trial')}, about {words.length(short.seconds)} with --brief")
    return 0


def _way(made: Plan) -> str:
    """How contenders are kept to cores and limits."""
    limits = [] if made.cores is None else [f"at most {words.count(made.cores, 'core')}"]
    limits += [] if made.cpus is None else [f"at most {made.cpus:g} of a core's CPU time"]
    limits += [] if made.memory_bytes is None else [f"at most {made.memory_bytes // 2**20} MB"]
    way = "the best that this machine allows (see: webdyno doctor)" if made.way is None else made.way
    limits += [AS_USER, OWN_NETWORK] if made.as_user else []
    return f"way: {', '.join([way, *limits])}"


def _print(made: Plan, seated: Sharing, coming: list[str], full: bool) -> None:
    from rich import box
    from rich.table import Table

    console = out_console()
    console.print(made.title, style="bold")
    console.print(made.question)
    cells = len(made.trials) // made.rounds
    most = "at most" if made.race is not None else "about"
    console.print(
        f"{words.count(len(made.contenders), 'contender')}, {words.count(cells, 'cell')}, {extent(made)}, "
        f"seed {made.seed}: {most} {words.length(made.seconds)} (without builds)",
        soft_wrap=True,
    )
    console.print(seating(seated, made), soft_wrap=True)
    console.print(_way(made), soft_wrap=True)
    for sentence in (*costs(made), *too_short(made), *coming):
        console.print(sentence, soft_wrap=True)
    for skip in made.skipped:
        console.print(f"skipped {skip.what}: {skip.reason}", soft_wrap=True)
    if made.brief:
        console.print("the brief version; without --brief the study has more levels and longer phases", style="dim")
    table = Table("trial", "round", "contender", "workload", "load", "driver", box=box.SIMPLE_HEAD, pad_edge=False)
    shown = made.trials if full else made.trials[:10]
    for trial in shown:
        row = (trial.id[:8], str(trial.round), trial.contender, trial.workload, trial.load.label, trial.driver)
        table.add_row(*map(clean, row))
    console.print(table)
    if len(shown) < len(made.trials):
        console.print(f"... and {len(made.trials) - len(shown)} more: --full shows them", style="dim")
