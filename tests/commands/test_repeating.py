"""What a report needs to say how to repeat a study: the arguments it was run with, kept in its Plan."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cyclopts import App

from tests.analyse.fakes import FINGERPRINT, plan, run
from webdyno.analyse import analyse
from webdyno.commands import run as command
from webdyno.commands.studying import Narrowing
from webdyno.model.trial import Plan
from webdyno.report.html import render_html

EVERY = Narrowing(
    contender=["uvicorn", "flask-*"],
    workload=["hello"],
    connections=["8,64"],
    duration="2s",
    rounds=7,
    seed=11,
    driver="wrk",
    drivers=3,
    memory="none",
    cpus=1.5,
    way="container",
    as_user=True,
    trimmed=True,
    alone=True,
    brief=True,
)


def again(narrowing: Narrowing) -> Narrowing:
    """The flags typed as ``narrowing`` says, read by the command line."""
    app = App(result_action="return_value")

    @app.default
    def _run(study: str, /, *, narrowing: Narrowing = Narrowing()) -> Narrowing:  # noqa: B008
        return narrowing

    found: Narrowing = app(["quickstart", *narrowing.arguments])
    return found


def test_the_flags_typed_again_are_the_same_but_for_seed_and_rounds_which_the_plan_has() -> None:
    found = again(EVERY)
    assert found.arguments == EVERY.arguments
    assert (found.rounds, found.seed) == (None, None)
    unsaid = {field for field in Narrowing.__dataclass_fields__ if getattr(found, field) in (None, False)}
    assert unsaid == {"rounds", "seed"}  # a new flag that is forgotten there would be one more
    assert again(Narrowing()) == Narrowing()


def test_the_plan_keeps_the_study_as_it_was_named_its_flags_and_its_catalogues(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "workloads").mkdir()
    seen: list[Any] = []
    monkeypatch.setattr(command, "begin", lambda *_, **given: seen.append(given))
    monkeypatch.setattr(command, "_finish", lambda *_: 0)
    command.run("quickstart", narrowing=Narrowing(contender=["uvicorn"], rounds=2), catalogue=[tmp_path])
    assert seen[0]["arguments"] == ["quickstart", "-k", "uvicorn", "--catalogue", str(tmp_path)]


def command_of(made: Plan) -> str:
    runs = [run(round_=r) for r in (1, 2)]
    html = render_html(made, FINGERPRINT, runs, analyse(made, FINGERPRINT, runs))
    return html.split('id="again"')[1].split("<pre>")[1].split("</pre>")[0]


def test_the_page_has_the_command_with_all_of_them_quoted() -> None:
    made = plan([run(round_=r) for r in (1, 2)], arguments=["quickstart", "-k", "flask-*", "--memory", "none"])
    told = command_of(made)
    assert told == "webdyno run quickstart -k 'flask-*' --memory none --seed 7 --rounds 2 --exhaustive"
    assert shlex.split(told)[3:5] == ["-k", "flask-*"]


def test_an_older_plan_is_repeated_by_its_name_and_as_brief_as_it_was() -> None:
    made = msgspec.structs.replace(plan([run(round_=r) for r in (1, 2)]), brief=True)
    assert command_of(made) == "webdyno run fake --brief --seed 7 --rounds 2 --exhaustive"


@pytest.mark.parametrize("name", ["capacity", "compare", "load", "try"])
def test_what_no_study_led_to_is_not_repeated_by_one(name: str) -> None:
    made = msgspec.structs.replace(plan([run(round_=r) for r in (1, 2)]), study=name)
    assert command_of(made) == f"webdyno {name} ..., as it was called"
