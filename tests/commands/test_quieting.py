"""``doctor --quiet``: what is shown, what is asked, and that nothing is set without a yes."""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.commands.test_trusting import Terminal, terminal
from tests.rig.layouts import write
from tests.rig.test_quiet import CPU, LOUD
from tests.rig.test_quieted import PLAIN, SOMAXCONN, left
from webdyno.commands import call, quieting
from webdyno.rig.lock import VARIABLE
from webdyno.rig.process import read_stat
from webdyno.rig.quiet import look
from webdyno.rig.quieted import Change, held_quiet, holder, put_back_left, was_left

__all__ = ["terminal"]
KEEP = "--keep=open-files"  # it would be that of this process


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "run" / "quiet.json"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A loud machine."""
    return write(tmp_path / "root", LOUD | PLAIN)


@pytest.fixture(autouse=True)
def machine(root: Path, journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """It is the one that is looked at, and a command does not run: it notes what it finds."""
    found: list[str] = []

    def run(argv: list[str]) -> int:
        found.append(f"{' '.join(argv)}: {(root / SOMAXCONN).read_text()}")
        return int(argv[1])

    monkeypatch.setattr(quieting, "look", partial(look, root))
    for function in (holder, was_left, put_back_left):
        monkeypatch.setattr(quieting, function.__name__, partial(function, journal))
    monkeypatch.setattr(quieting, "held_quiet", partial(held_quiet, journal=journal))
    monkeypatch.setattr(quieting, "run_in_front", run)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return found


def doctor(*words: str) -> int:
    return call(["doctor", "--quiet", *words])


def test_alone_it_shows_what_is_and_would_be_and_why_and_sets_nothing(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert doctor() == 0
    said = capsys.readouterr().out
    assert "change   governor       powersave (2 files), would be performance\n" in said
    assert "change   huge-pages     always, would be madvise\n" in said
    assert "a clock that follows the load" in said
    assert said.endswith("Nothing is set. While a command runs, it would be: webdyno doctor --quiet -- COMMAND\n")
    assert (root / SOMAXCONN).read_text() == "128\n"


def test_what_is_not_to_be_had_says_why(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / CPU / "intel_pstate/no_turbo").unlink()
    assert doctor() == 0
    assert "absent   turbo          not available here: this kernel does not set the clock" in capsys.readouterr().out


def test_as_json_it_is_all_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor("--json", "--keep", "turbo") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["held_by"], told["left"]) == (None, False)
    of_turbo = next(it for it in told["settings"] if it["name"] == "turbo")
    assert (of_turbo["now"], of_turbo["quiet"], of_turbo["obstacle"]) == ("0", "1", "kept unchanged, as requested")


def test_with_yes_it_is_set_while_the_command_runs_whose_exit_code_it_is(
    root: Path, machine: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert doctor("--yes", KEEP, "--", "true", "7", "--rounds") == 7
    assert machine == ["true 7 --rounds: 4096"]
    assert (root / SOMAXCONN).read_text() == "128"
    out, err = capsys.readouterr()
    assert out == ""  # which is the command's
    assert "change   somaxconn      128, would be 4096\n" in err
    assert err.endswith(
        "webdyno: put back: governor powersave, turbo 0, huge-pages always, somaxconn 128, port-range 32768 60999\n"
    )


def test_a_command_that_a_signal_ended_has_the_exit_code_of_a_shell(machine: list[str]) -> None:
    assert doctor("--yes", KEEP, "--", "true", "-15") == 128 + 15


@pytest.mark.parametrize(("typed", "code"), [("y\n", 3), ("yes\n", 3), ("n\n", 2), ("\n", 2)])
def test_on_a_terminal_it_shows_what_and_why_and_asks(
    typed: str, code: int, root: Path, machine: list[str], terminal: Terminal
) -> None:
    seen = terminal(typed)
    assert doctor(KEEP, "--", "true", "3") == code
    shown = seen()
    assert "somaxconn      128, would be 4096" in shown
    assert "the longest queue of new connections" in shown
    assert "Set these while the command runs, and restore them after it? [y/N]" in shown
    assert len(machine) == (1 if code == 3 else 0)
    assert (root / SOMAXCONN).read_text().strip() == "128"


def test_where_nobody_can_be_asked_nothing_is_set(
    machine: list[str], root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert doctor(KEEP, "--", "true", "0") == 2
    assert capsys.readouterr().err == (
        "webdyno: it would set governor, turbo, huge-pages, somaxconn, port-range: webdyno shows them on a terminal "
        "and asks; --yes sets them without asking\n"
    )
    assert machine == []
    assert (root / SOMAXCONN).read_text() == "128\n"


def test_where_all_is_quiet_the_command_runs_unasked(machine: list[str]) -> None:
    assert doctor("--keep", "governor,turbo,huge-pages,somaxconn,port-range,open-files", "--", "true", "0") == 0
    assert machine == ["true 0: 128\n"]


def test_where_nothing_can_be_set_it_is_refused_with_the_way_on(
    machine: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os.access", lambda *_, **__: False)
    monkeypatch.setattr("shutil.which", lambda name: name)
    monkeypatch.setattr("webdyno.rig.quiet.os.geteuid", lambda: 1000)
    assert doctor("--yes", KEEP, "--", "true", "0") == 3
    assert capsys.readouterr().err == (
        "webdyno: governor is powersave and cannot be set to performance: that needs root; "
        "--keep governor,turbo,huge-pages,somaxconn,port-range continues without them\n"
    )
    assert machine == []


def test_what_a_killed_one_left_is_shown_and_undone(
    root: Path, journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(root, {SOMAXCONN: "4096"})
    left(journal, Change("somaxconn", str(root / SOMAXCONN), "128", "4096"))
    assert doctor() == 0
    assert "was killed left this machine quiet" in capsys.readouterr().out
    assert doctor("--undo") == 0
    assert "put back: somaxconn 128" in capsys.readouterr().out
    assert (root / SOMAXCONN).read_text() == "128"
    assert doctor("--undo") == 0
    assert capsys.readouterr().out == "Nothing was left to restore.\n"


def test_what_cannot_be_undone_is_said_with_an_exit_code(
    root: Path, journal: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    write(root, {SOMAXCONN: "4096"})
    left(journal, Change("somaxconn", str(root / SOMAXCONN), "128", "4096"))
    monkeypatch.setattr("webdyno.rig.quieted._put", refused)
    assert doctor("--undo") == 3
    assert "could not be put back to 128" in capsys.readouterr().out


@pytest.mark.parametrize("words", [("--yes", KEEP, "--", "true", "0"), ("--undo",)])
def test_while_another_holds_it_both_are_refused(
    words: tuple[str, ...], root: Path, journal: Path, machine: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    us = read_stat(os.getpid())
    assert us
    left(journal, Change("somaxconn", str(root / SOMAXCONN), "128", "4096"), owner=us.pid, start=us.start_ticks)
    assert doctor(*words) == 3
    assert f"another webdyno (pid {us.pid}) keeps this machine quiet" in capsys.readouterr().err
    assert machine == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("doctor --yes", "--yes needs --quiet"),
        ("doctor --undo", "--undo needs --quiet"),
        ("doctor -- true", "'true' needs --quiet: webdyno doctor --quiet -- COMMAND"),
        ("doctor --quiet --yes", "so give one: webdyno doctor --quiet --yes -- COMMAND"),
        ("doctor --quiet --keep thp", "--keep thp: there are governor, turbo, huge-pages"),
        ("doctor --quiet --undo -- true", "--undo restores everything that was left, and takes nothing else"),
        ("doctor --quiet --json -- true", "--json shows the settings, and excludes a command"),
        ("doctor --quiet --calibrate", "--quiet excludes --calibrate and --far"),
        ("doctor --quiet -- /no/such", "/no/such: there is no such program"),
    ],
)
def test_a_wrong_call_is_one_sentence(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(words.split()) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_what_cannot_be_executed_is_said_and_all_is_put_back(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(_: list[str]) -> int:
        raise OSError(8, "Exec format error")

    monkeypatch.setattr(quieting, "run_in_front", refused)
    assert doctor("--yes", KEEP, "--", sys.executable) == 2
    assert capsys.readouterr().err.endswith("could not be executed: exec format error\n")
    assert (root / SOMAXCONN).read_text() == "128"
