"""``webdyno try --resume``: the course of a tryout that was stopped, taken again with servers that are figures."""

from __future__ import annotations

import itertools
import json
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from tests.analyse import fakes
from tests.analyse.turning import turn
from webdyno.commands import call
from webdyno.design.blocks import Room
from webdyno.model.block import Rest
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.session import resuming as resuming_module
from webdyno.session.tryout import bench, resuming, sitting, steps
from webdyno.session.tryout.first import First
from webdyno.session.tryout.image import Answered, Engine, Image
from webdyno.session.tryout.journal import Journal
from webdyno.session.tryout.task import workload_of
from webdyno.store import FILE, Store

RATES = {
    "image-1": 1000.0,
    "image-2": 1200.0,
    "cmd-1": 1000.0,
    "cmd-2": 2000.0,
    "cmd-3": 2100.0,
    "cmd-4": 1900.0,
    "cmd-5": 900.0,
    "current": 1500.0,
}
SERVERS = [word for name in "abcd" for word in ("--cmd", f"./{name} {{port}}")]
ASKED = [*SERVERS, "--current", "./now {port}", "--budget", "60s", "-c", "8", "--json"]


class Killed(Exception):  # noqa: N818 - it stands for a signal
    """As ``kill -9``: nothing more is written or printed."""


class Machine:
    """Stands in for machine and servers: each has its rate, and what a Run says depends on its Trial alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.blocks: list[list[str]] = []
        self.measured: list[str] = []
        self.stop_at: int | None = None
        self.kill_at: int | None = None
        self.wrong: set[str] = set()
        self.compilers: list[str] = []
        self.moments = itertools.count(1)
        self.tokens = itertools.count(1)
        self.here = self.strapped()

    def begin_anew(self) -> None:
        self.blocks, self.measured, self.moments = [], [], itertools.count(1)

    def strapped(self) -> Any:
        self.here = SimpleNamespace(
            interrupted=threading.Event(),
            rig=fakes.RIG,
            fingerprint=fakes.FINGERPRINT,
            token=f"t{next(self.tokens)}",
            folder=lambda: self.folder,
        )
        return self.here

    @contextmanager
    def strapped_here(self, _: None, *, wait: bool, far: object = None) -> Iterator[Any]:
        assert not wait
        yield self.strapped()

    @contextmanager
    def on_its_machine(self, _: Store, *, wait: bool, far: object = None) -> Iterator[Any]:
        assert not wait
        yield self.strapped(), {"engine": "1"}

    def first(self, of: sitting.Sitting) -> First:
        """Quick in the first sitting, and slow in any later one."""
        slow = 1 + 70 * (next(self.moments) > 1)
        (of.task.folder / "written.db").write_text(str(slow))  # by the application, which was asked
        of.current_compilers = self.compilers if slow == 1 else []
        return First(workload_of(of.task.asked.requests), 0.1 * slow, 0.001 * slow, 0.0005 * slow, [])

    def room(self) -> Room:
        """For three at once in the first sitting, and for all in any later one."""
        return Room(memory_bytes=2 << (30 + 10 * (next(self.moments) > 2)))

    def conducting(self, plan: Plan, book: Journal) -> Any:
        def conduct(block: Any) -> list[Run]:
            if self.kill_at == len(self.blocks):
                raise Killed
            if self.stop_at == len(self.blocks):
                self.here.interrupted.set()
            self.blocks.append([trial.contender for trial in block])
            number = 1 + max((run.block or 0 for run in book.runs()), default=0)
            return [self.run(trial, number if len(block) > 1 else None) for trial in block]

        return conduct

    def run(self, trial: Any, block: int | None) -> Run:
        rate = RATES[trial.contender] * random.Random(trial.id).uniform(0.98, 1.02)
        compilers = self.compilers if trial.contender == "current" else []
        made = fakes.run(trial.contender, rate=rate, seconds=1.5, trial=trial, compilers=compilers)
        made = msgspec.structs.replace(made, seconds=1.1 + trial.load.duration_s)
        if block is not None:
            turns = [turn(at, ok=round(rate / 20), ms=50.0, cpu_ms=40.0) for at in range(7)]
            rest = Rest(time_ns=10**10, cpu_ns=0)
            made = msgspec.structs.replace(made, block=block, slices=[*made.slices, *turns], rest=rest)
        if self.here.interrupted.is_set():
            return msgspec.structs.replace(made, outcome="interrupted", message="stopped", slices=[])
        if trial.contender in self.wrong and trial.id not in self.measured:
            made = msgspec.structs.replace(made, outcome="wrong-answer", message="it is wrong", slices=[])
        self.measured.append(trial.id)
        return made


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("a", "b", "c", "d", "now", "shop.py"):
        (folder / name).write_text(name)
    return folder


@pytest.fixture
def machine(tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(tmp_path / "work")
    made.folder.mkdir()
    driver = SimpleNamespace(version=lambda _: "1")
    monkeypatch.setattr(sitting, "DRIVERS", {"engine": lambda: driver})
    monkeypatch.setattr(sitting, "asker", lambda _: None)
    monkeypatch.setattr(sitting, "room_here", made.room)
    monkeypatch.setattr(sitting.Sitting, "first", lambda self: made.first(self))  # noqa: PLW0108 - a bound method is none
    monkeypatch.setattr(bench.TryBench, "conducting", lambda _, plan, book: made.conducting(plan, book))
    monkeypatch.setattr(steps, "strapped_here", made.strapped_here)
    monkeypatch.setattr(resuming, "on_its_machine", made.on_its_machine)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("WEBDYNO_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(project)
    return made


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The answer, but for where it is kept."""
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert data.pop("saved")
    return data


def whole(machine: Machine, folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What an unstopped one says."""
    assert call(["try", *ASKED, "--save", str(folder)]) == 0
    machine.begin_anew()
    return told(capsys)


def runs_in(folder: Path) -> list[Run]:
    found = []
    for each in (folder / "screening", folder):
        with Store.open(each) as store:
            found += [run for run in store.runs() if run.outcome != "interrupted"]
            plan = store.plan()
        assert {run.trial.contender for run in found} >= set(plan.contenders)
        assert {trial.contender for trial in plan.trials} == set(plan.contenders)
    return found


def screenings(folder: Path) -> int:
    """Blocks before the last comparison."""
    with Store.open(folder / "screening") as store:
        return len({run.block or run.trial.id for run in store.runs()})


@pytest.mark.slow
def test_stopped_anywhere_it_says_what_it_would_have_said_and_repeats_nothing(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = whole(machine, tmp_path / "whole", capsys)
    first, every = screenings(tmp_path / "whole"), len(runs_in(tmp_path / "whole"))
    for stop_at in sorted({1, 2, first - 1, first, first + 3}):  # after the first blocks, before and in the last rounds
        folder = tmp_path / f"stopped-{stop_at}"
        machine.stop_at = stop_at
        assert call(["try", *ASKED, "--save", str(folder)]) == 130
        said = capsys.readouterr()
        assert f"to go on: webdyno try --resume {folder}\n" in said.err
        assert said.out == ""
        machine.stop_at = None
        assert call(["try", "--resume", str(folder), "--json"]) == 0
        assert told(capsys) == expected
        assert len(machine.measured) == len(set(machine.measured)) == len(runs_in(folder)) == every
        machine.begin_anew()


def test_one_that_is_killed_goes_on_with_the_runs_that_were_written(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = whole(machine, tmp_path / "whole", capsys)
    folder = tmp_path / "killed"
    for kill_at in (2, 4, screenings(tmp_path / "whole") + 2):
        machine.kill_at = kill_at
        with pytest.raises(Killed):
            call(["try", *(["--resume", str(folder)] if folder.exists() else [*ASKED, "--save", str(folder)])])
    machine.kill_at = None
    assert call(["try", "--resume", str(folder), "--json"]) == 0
    assert told(capsys) == expected
    assert len(machine.measured) == len(set(machine.measured)) == len(runs_in(folder))


@pytest.mark.parametrize("budget_s", [40, 100])
def test_the_budget_is_that_of_both_sittings(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str], budget_s: int
) -> None:
    machine.stop_at = 2
    asked = [f"{budget_s}s" if word == "60s" else word for word in ASKED]
    assert call(["try", *asked, "--save", str(tmp_path / "r")]) == 130
    machine.stop_at = None
    assert call(["try", "--resume", str(tmp_path / "r"), "--json"]) == 0
    told(capsys)
    runs = runs_in(tmp_path / "r")
    assert 0.8 * budget_s < sum(run.seconds for run in runs) < 1.1 * budget_s


def test_a_block_that_was_being_written_is_measured_again_whole(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write, folder = Store._write, tmp_path / "killed"
    written: list[Run] = []

    def killed_after_one(store: Store, run: Run, fingerprint: int) -> int:
        if written:
            raise Killed
        written.append(run)
        return write(store, run, fingerprint)

    monkeypatch.setattr(Store, "_write", killed_after_one)
    with pytest.raises(Killed):
        call(["try", *ASKED, "--save", str(folder)])
    monkeypatch.setattr(Store, "_write", write)
    (before,) = machine.blocks
    machine.blocks = []
    with Store.open(folder / "screening") as store:
        assert store.runs() == []
    assert call(["try", "--resume", str(folder), "--json"]) == 0
    told(capsys)
    assert machine.blocks[0] == before
    assert {run.block for run in runs_in(folder)[: len(before)]} == {1}


def test_what_was_measured_twice_and_what_settled_is_not_measured_again(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.wrong, machine.compilers = {"cmd-1", "cmd-2"}, ["V8"]
    expected = whole(machine, tmp_path / "whole", capsys)
    assert "current was given" in " ".join(expected["notes"])
    machine.stop_at = 4
    assert call(["try", *ASKED, "--save", str(tmp_path / "stopped")]) == 130
    machine.stop_at = None
    with Store.open(tmp_path / "stopped" / "screening") as store:
        before = [run for run in store.runs() if run.outcome != "interrupted"]
    assert len({run.trial.id for run in before}) < len(before)
    assert max(run.trial.load.duration_s or 0.0 for run in before) >= 9.0
    machine.blocks = []
    capsys.readouterr()
    assert call(["try", "--resume", str(tmp_path / "stopped"), "--json"]) == 0
    assert told(capsys) == expected


def test_one_that_came_to_its_end_says_so_and_answers_again(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = whole(machine, tmp_path / "whole", capsys)
    assert call(["try", "--resume", str(tmp_path / "whole"), "--json"]) == 0
    said = capsys.readouterr()
    assert f"nothing is left to measure in {tmp_path / 'whole'}\n" in said.err
    assert json.loads(said.out)["answer"] == expected["answer"]
    assert machine.blocks == []


def test_one_that_was_stopped_late_answers_and_goes_on_all_the_same(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = whole(machine, tmp_path / "whole", capsys)
    folder = tmp_path / "stopped"
    machine.stop_at = screenings(tmp_path / "whole") + 2 * 3  # rounds of two blocks
    assert call(["try", *ASKED, "--save", str(folder)]) == 130
    said = capsys.readouterr()
    assert json.loads(said.out)["complete"] is False
    assert f"to go on: webdyno try --resume {folder}\n" in said.err
    machine.stop_at = None
    assert call(["try", "--resume", str(folder), "--json"]) == 0
    assert told(capsys) == expected


def test_one_that_was_not_begun_here_is_refused_and_nothing_is_started(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.stop_at, folder = 2, tmp_path / "r"
    assert call(["try", *ASKED, "--save", str(folder)]) == 130
    machine.stop_at, machine.blocks = None, []
    capsys.readouterr()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
    assert call(["try", "--resume", str(folder), "--json"]) == 2
    said = capsys.readouterr().err
    assert f"{folder}: somebody else's, as far as webdyno can tell, and it would run commands (command './now " in said
    assert "and 4 more" in said
    assert machine.blocks == []
    assert call(["try", "--resume", str(folder), "--json", "--trust"]) == 0
    assert told(capsys)["take"] is not None


@pytest.mark.parametrize("where", ["report.html", "logs", "screening/logs"])
def test_a_link_in_its_folder_is_refused(
    where: str, machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.stop_at, folder = 2, tmp_path / "r"
    assert call(["try", *ASKED, "--save", str(folder)]) == 130
    link = folder / where
    if link.exists():
        link.rename(tmp_path / "elsewhere")
    link.symlink_to(tmp_path / "elsewhere")
    assert call(["try", "--resume", str(folder)]) == 2
    assert f"{link}: this is a link" in capsys.readouterr().err


def test_without_a_folder_nothing_is_kept_and_nothing_offered(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.stop_at = 2
    assert call(["try", *ASKED]) == 130
    assert not (tmp_path / "state").exists()
    assert "to go on" not in capsys.readouterr().err


def test_stopped_before_a_run_counts_it_leaves_nothing_and_offers_nothing(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.stop_at = 0
    assert call(["try", *ASKED, "--save", str(tmp_path / "stopped")]) == 130
    assert "to go on" not in capsys.readouterr().err
    assert not (tmp_path / "stopped").exists()


def test_a_part_of_the_folder_may_be_named(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole(machine, tmp_path / "r", capsys)
    for named in ("screening", "screening/results.sqlite", "results.sqlite"):
        assert call(["try", "--resume", str(tmp_path / "r" / named)]) == 0
        assert f"nothing is left to measure in {tmp_path / 'r'}\n" in capsys.readouterr().err


def test_a_folder_that_can_be_gone_on_with_is_not_begun_anew(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = stopped(machine, tmp_path / "r")
    said = capsys.readouterr().err
    assert f"runs are kept in {folder}; if this is killed: webdyno try --resume {folder}\n" in said
    assert call(["try", *ASKED, "--save", str(folder)]) == 2
    assert f"--save {folder}: continue what is there (--resume {folder}), or name a" in capsys.readouterr().err


def stopped(machine: Machine, folder: Path, *more: str) -> Path:
    machine.stop_at = 2
    assert call(["try", *ASKED, "--save", str(folder), *more]) == 130
    machine.stop_at, machine.blocks = None, []
    return folder


SECRETS = ["--env", "DSN=hunter2", "-H", "Authorization: open-sesame", "-p", "/a", "-p", "/b"]


def test_secrets_stand_in_no_file_and_are_given_again(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = stopped(machine, tmp_path / "r", *SECRETS, "--cmd", "DB=pg://me:hunter2@db ./a {port}")
    capsys.readouterr()
    content = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"hunter2" not in content
    assert b"open-sesame" not in content


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([], "{}: no results file keeps the value of --env DSN: give it again, --env DSN=..."),
        (["--env", "DSN=x"], "{}: its requests send the header Authorization, whose value no results file keeps: give"),
        (["--env", "DSN=x", "--env", "A=b"], "--env A: {} began without it"),
        (["--env", "DSN=x", "-H", "Authorization: x", "-H", "X: y"], "-H 'X: ...': "),
        (["--env", "DSN"], "--env DSN: write NAME=value"),
    ],
)
def test_what_is_not_given_again_is_asked_for(
    given: list[str], says: str, machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = stopped(machine, tmp_path / "r", *SECRETS)
    line = f"to go on: webdyno try --resume {folder} -H 'Authorization: ...' --env DSN=...\n"
    assert line in capsys.readouterr().err
    assert call(["try", "--resume", str(folder), *given]) == 2
    assert says.format(folder) in capsys.readouterr().err
    assert machine.blocks == []


def test_with_what_was_given_again_it_goes_on(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = stopped(machine, tmp_path / "r", *SECRETS)
    assert call(["try", "--resume", str(folder), "--env", "DSN=hunter2", "-H", "authorization: open-sesame"]) == 0
    assert machine.blocks
    assert "hunter2" not in capsys.readouterr().out
    content = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"hunter2" not in content
    assert b"open-sesame" not in content


def test_a_password_in_a_command_cannot_be_given_again(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = stopped(machine, tmp_path / "r", "--cmd", "DB=pg://me:hunter2@db ./a {port}")
    assert "to go on" not in capsys.readouterr().err
    assert call(["try", "--resume", str(folder)]) == 2
    assert f"{folder}: its commands hold a password, which no results file keeps: start over" in capsys.readouterr().err


def test_files_that_changed_since_are_named_and_what_the_application_wrote_is_none_of_them(
    machine: Machine, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "written.db").write_text("before")
    folder = stopped(machine, tmp_path / "r")
    (project / "written.db").write_text("after")
    (project / "shop.py").write_text("changed")
    capsys.readouterr()
    assert call(["try", "--resume", str(folder)]) == 2
    assert capsys.readouterr().err == (
        f"webdyno: {folder}: the project's files have changed since it began (shop.py), and runs of two "
        "applications are not compared: restore them, or start over without --resume\n"
    )
    assert machine.blocks == []
    (project / "shop.py").write_text("shop.py")
    assert call(["try", "--resume", str(folder)]) == 0


@pytest.mark.parametrize("rebuilt", [False, True])
def test_images_go_on_as_long_as_they_are_the_same(
    rebuilt: bool,
    machine: Machine,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ids = iter(["1", "2", "1", "3" if rebuilt else "2"])
    engine = Engine("podman", "/bin/sh", "4.3.1", lambda *_: Answered(0, "", ""))

    def images_of(names: list[str], *_: object) -> list[Image]:
        return [Image(name=name, id=f"sha256:{next(ids)}", digest="", port=None, engine=engine) for name in names]

    monkeypatch.setattr(sitting, "images_of", images_of)
    monkeypatch.setattr(sitting, "asking", lambda *_: engine.ask)
    machine.stop_at = 1
    asked = ["--image", "shop:1", "--image", "shop:2", "--budget", "60s"]
    assert call(["try", *asked, "--save", str(tmp_path / "r")]) == 130
    machine.stop_at = None
    assert call(["try", "--resume", str(tmp_path / "r")]) == (2 if rebuilt else 0)
    said = capsys.readouterr().err
    assert ("what is served has changed since the start: image-2; restore it" in said) == rebuilt
    assert len(machine.measured) == len(set(machine.measured))


def test_runs_that_this_webdyno_would_not_have_made_are_not_gone_on_with(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = stopped(machine, tmp_path / "r")
    monkeypatch.setattr(bench, "WARMUP_S", 0.7)  # another version has it
    assert call(["try", "--resume", str(folder)]) == 2
    assert "and the earlier sitting measured something else: start over without --resume" in capsys.readouterr().err
    assert machine.blocks == []


def test_it_goes_on_on_its_own_machine_only(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = stopped(machine, tmp_path / "r")

    @contextmanager
    def elsewhere(*_: object, **__: object) -> Iterator[Any]:
        here = machine.strapped()
        here.fingerprint = msgspec.structs.replace(fakes.FINGERPRINT, cores=64)
        yield here

    monkeypatch.setattr(resuming, "on_its_machine", resuming_module.on_its_machine)
    monkeypatch.setattr(resuming_module, "strapped_here", elsewhere)
    assert call(["try", "--resume", str(folder)]) == 2
    said = capsys.readouterr().err
    assert "its runs were made on another machine (cores was 2 and is 64 here)" in said
    assert "start over here: webdyno try\n" in said


@pytest.mark.parametrize(
    "more",
    [["a:b"], ["--cmd", "sh {port}"], ["-c", "8"], ["--budget", "5m"], ["--save", "x"], ["-p", "/"], ["--openapi"]],
)
def test_it_takes_no_flag_that_makes_another_tryout(
    more: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["try", *more, "--resume", str(tmp_path)]) == 2
    assert (
        "--resume continues a try as it was begun, so the only other flags it takes are --env"
        in capsys.readouterr().err
    )


def test_results_of_another_command_are_gone_on_with_by_that(
    machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["try", "--resume", str(tmp_path / "nothing")]) == 2
    assert f"{tmp_path / 'nothing'}: no results here" in capsys.readouterr().err
    with Store.create(tmp_path / "study", fakes.plan([fakes.run()]), fakes.FINGERPRINT):
        pass
    assert call(["try", "--resume", str(tmp_path / "study")]) == 2
    assert f"webdyno run --resume {tmp_path / 'study'} continues" in capsys.readouterr().err
    whole(machine, tmp_path / "tried", capsys)
    assert (tmp_path / "tried" / FILE).is_file()
    assert call(["run", "--resume", str(tmp_path / "tried")]) == 2
    assert f"webdyno try --resume {tmp_path / 'tried'} continues" in capsys.readouterr().err
