"""``webdyno compare --resume``: what is left of a comparison, with servers that are a formula; and what it refuses."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from tests.analyse import fakes
from webdyno.commands import call
from webdyno.conduct import Bench
from webdyno.model.built import Built
from webdyno.model.errors import BuildError
from webdyno.model.load import Load
from webdyno.model.paired import Paired, Revisions
from webdyno.model.run import Run
from webdyno.model.trial import Plan, Trial, trial_of
from webdyno.model.workload import Request
from webdyno.session import loop, pairing
from webdyno.session.ready import Ready
from webdyno.store import Store

LOAD = Load(connections=64, duration_s=2.0)
ASKED = Paired(load=LOAD, margin=0.03, most=18, budget_s=1e9)
MADE = Revisions(repository="/shop", revs=["main", "fast"], commits=["1" * 40, "2" * 40], cmd="serve {port}")
HEAD = 0.9


class Sides:
    """Stands in for machine, builds and servers: base answers 10,000 a second, head a part of that."""

    def __init__(self) -> None:
        self.interrupted = threading.Event()
        self.taken: list[tuple[str, int]] = []
        self.noise = itertools.cycle([0.99, 1.0, 1.01])
        self.stop_at: int | None = None
        self.fails: str | None = None
        self.made_of: list[tuple[str, dict[str, str]]] = []

    @contextmanager
    def on_its_machine(self, _: Store, *, wait: bool, far: object = None) -> Iterator[Any]:
        assert not wait
        yield SimpleNamespace(interrupted=self.interrupted, lost="", replace_lost=lambda _: []), {"engine": "1"}

    def build(self, _known: object, plan: Plan, *_: object) -> Ready:
        built: dict[str, Built | BuildError] = {name: self.built(name) for name in plan.contenders}
        return Ready(plan=plan, built=built, found={}, servers={}, drivers={"engine": "1"})

    def built(self, name: str) -> Built | BuildError:
        if name == self.fails:
            return BuildError("the network is gone", "no route to host\n")
        return Built(contender=name, key="k", directory="/", environment={}, versions={}, log="", seconds=0.0)

    def by_command(self, side: str, cmd: str, _builds: object, environment: dict[str, str], *_: object) -> Any:
        self.made_of.append((cmd, environment))
        return None, self.built(side)

    def conduct(self, trial: Trial, _: Bench, built: Built) -> Run:
        if self.stop_at == len(self.taken):
            self.interrupted.set()
            return fakes.run(trial=trial, outcome="interrupted", slices=[], load=LOAD)
        self.taken.append((trial.contender, trial.round))
        return run_of(trial, next(self.noise))


def run_of(trial: Trial, noise: float = 1.0) -> Run:
    rate = 10_000 * noise * (HEAD if trial.contender == "head" else 1.0)
    return fakes.run(trial.contender, trial=trial, round_=trial.round, load=LOAD, rate=rate)


@pytest.fixture
def sides(begun_here: None, monkeypatch: pytest.MonkeyPatch) -> Sides:
    made = Sides()
    driver = SimpleNamespace(version=lambda _: "1", can=fakes.run().driver_can)
    monkeypatch.setattr(loop, "DRIVERS", {"engine": lambda: driver})
    monkeypatch.setattr(loop, "conduct", made.conduct)
    monkeypatch.setattr(pairing, "on_its_machine", made.on_its_machine)
    monkeypatch.setattr(pairing, "there_again", lambda *_: None)
    monkeypatch.setattr(pairing, "with_definitions_of", lambda _, known: known)
    monkeypatch.setattr(pairing, "build", made.build)
    monkeypatch.setattr(pairing, "check_out_both", lambda *_: ["base", "head"])
    monkeypatch.setattr(pairing, "by_command", made.by_command)
    return made


def begun(folder: Path, pairs: int, asked: Paired | None = ASKED, header: str | None = None, **changes: Any) -> Path:
    """A comparison that was stopped after so many pairs and the first side of the next."""
    made = fakes.plan([fakes.run("base"), fakes.run("head")])
    requests = [Request(name="r", path="/", headers=[] if header is None else [(header, "open-sesame")])]
    workloads = {name: msgspec.structs.replace(it, requests=requests) for name, it in made.workloads.items()}
    about = {"study": "compare", "title": "head (fast, 22222222) against base (main, 11111111)", "trials": []}
    plan = msgspec.structs.replace(made, paired=asked, workloads=workloads, **about, **changes)
    with Store.create(folder, plan, fakes.FINGERPRINT) as store:
        for number in range(1, pairs + 1):
            for name in ("base", "head"):
                store.grow([trial_of(plan, name, LOAD, number)])
                store.append(run_of(trial_of(plan, name, LOAD, number)))
        trial = trial_of(plan, "head" if pairs % 2 else "base", LOAD, pairs + 1)
        store.grow([trial])
        store.append(run_of(trial))
    return folder


def test_what_is_left_is_measured_and_the_verdict_is_that_of_all(
    sides: Sides, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = begun(tmp_path / "r", 2)
    assert call(["compare", "--resume", str(folder)]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("head (fast, 22222222) is slower than base (main, 11111111): -10 %")
    assert said.out.splitlines()[0].endswith(", after 4 pairs")
    assert sides.taken == [("head", 3), ("head", 4), ("base", 4)]
    assert "pair 3 of at most 18" in said.err
    with Store.open(folder) as store:
        assert len(store.runs()) == len({run.trial.id for run in store.runs()}) == 8
        assert {trial.id for trial in store.plan().trials} == store.done()
    assert call(["compare", "--resume", str(folder)]) == 1
    again = capsys.readouterr()
    assert again.out == said.out
    assert f"nothing is left to measure in {folder}" in again.err
    assert len(sides.taken) == 3


def test_it_goes_on_with_the_margin_and_the_number_of_pairs_it_began_with(
    sides: Sides, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = begun(tmp_path / "r", 1, msgspec.structs.replace(ASKED, margin=0.25, most=3))
    assert call(["compare", "--resume", str(folder)]) == 3
    assert sides.taken[-1][1] == 3
    out = capsys.readouterr().out
    assert call(["compare", str(folder)]) == 3  # also when it is only shown again
    assert capsys.readouterr().out == out


def test_the_budget_is_that_of_both_sittings(sides: Sides, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = begun(tmp_path / "r", 2, msgspec.structs.replace(ASKED, budget_s=1.0))
    assert call(["compare", "--resume", str(folder)]) == 3
    assert sides.taken == []
    assert "nothing is left to measure" in capsys.readouterr().err


def test_ctrl_c_offers_the_line_that_goes_on(sides: Sides, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, more = begun(tmp_path / "my results", 1), tmp_path / "more"
    (more / "studies").mkdir(parents=True)
    sides.stop_at = 1
    assert call(["compare", "--resume", str(folder), "--catalogue", str(more)]) == 130
    said = capsys.readouterr()
    assert said.out == ""
    assert f"to go on: webdyno compare --resume '{folder}' --catalogue {more}\n" in said.err
    sides.stop_at = None
    sides.interrupted.clear()
    assert call(["compare", "--resume", str(folder)]) == 1
    assert sides.taken == [("base", 2), ("base", 3), ("head", 3), ("head", 4), ("base", 4)]


def test_revisions_are_built_again_with_what_no_file_keeps(
    sides: Sides, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = msgspec.structs.replace(ASKED, revisions=msgspec.structs.replace(MADE, variables=["DSN"]))
    folder = begun(tmp_path / "r", 1, made, header="Authorization")
    sides.stop_at = 0
    values = ["--env", "DSN=hunter2", "-H", "Authorization: open-sesame"]
    assert call(["compare", "--resume", str(folder), *values]) == 130
    line = f"to go on: webdyno compare --resume {folder} -H 'Authorization: ...' --env DSN=...\n"
    assert line in capsys.readouterr().err
    assert sides.made_of == [("serve {port}", {"DSN": "hunter2"})] * 2
    content = (folder / "results.sqlite").read_bytes()
    assert b"hunter2" not in content
    assert b"open-sesame" not in content


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([], "no results file keeps the value of --env DSN: give it again, --env DSN=..."),
        (["--env", "DSN=x"], "the header Authorization, whose value no results file keeps: give it again, -H 'Auth"),
        (["--env", "DSN=x", "--env", "A=b"], "--env A: "),
        (["--env", "DSN=x", "-H", "Authorization: x", "-H", "X: y"], "-H 'X: ...': "),
        (["--env", "DSN"], "--env DSN: write it as NAME=VALUE"),
    ],
)
def test_what_is_not_given_again_is_asked_for(
    given: list[str], says: str, sides: Sides, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = msgspec.structs.replace(ASKED, revisions=msgspec.structs.replace(MADE, variables=["DSN"]))
    folder = begun(tmp_path / "r", 1, made, header="Authorization")
    assert call(["compare", "--resume", str(folder), *given]) == 2
    assert says in capsys.readouterr().err
    assert sides.taken == []


def test_a_side_that_is_not_to_be_had_again_says_nothing_of_head(
    sides: Sides, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sides.fails = "head"
    assert call(["compare", "--resume", str(begun(tmp_path / "r", 1))]) == 3
    assert "the network is gone\n  | no route to host" in capsys.readouterr().err


def test_one_that_was_not_begun_here_is_refused_and_nothing_is_built(
    sides: Sides, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = begun(tmp_path / "r", 1, msgspec.structs.replace(ASKED, revisions=MADE))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert call(["compare", "--resume", str(folder)]) == 2
    assert f"{folder}: somebody else's, as far as webdyno can tell" in capsys.readouterr().err
    assert (sides.made_of, sides.taken) == ([], [])
    assert call(["compare", "--resume", str(folder), "--trust"]) == 1
    assert sides.taken


@pytest.mark.parametrize(
    "more", [["waitress", "cheroot"], ["--margin", "5"], ["-c", "8"], ["--rev", "main"], ["--results", "x"]]
)
def test_it_takes_no_flag_that_makes_another_comparison(
    more: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["compare", "--resume", str(tmp_path), *more]) == 2
    assert "--resume continues a comparison as it was begun" in capsys.readouterr().err


def test_another_plan_is_gone_on_with_by_its_own_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = begun(tmp_path / "old", 1, None)
    assert call(["compare", "--resume", str(old)]) == 2
    assert f"{old}: an older webdyno made it, and did not record how to resume it" in capsys.readouterr().err
    with Store.create(tmp_path / "study", fakes.plan([fakes.run()]), fakes.FINGERPRINT):
        pass
    assert call(["compare", "--resume", str(tmp_path / "study")]) == 2
    assert f"webdyno run --resume {tmp_path / 'study'} continues" in capsys.readouterr().err
    compared = begun(tmp_path / "compared", 1)
    assert call(["run", "--resume", str(compared)]) == 2
    assert f"webdyno compare --resume {compared} continues" in capsys.readouterr().err
