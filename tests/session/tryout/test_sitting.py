"""What a sitting finds wrong before servers are built for it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.fakes import catalogue
from webdyno.commands.trying.asking import AppAsking
from webdyno.commands.trying.flags import Trying
from webdyno.model.errors import MachineError, UsageError
from webdyno.session.tryout.image import Answered, Engine, Image
from webdyno.session.tryout.sitting import Sitting


def sitting(folder: Path, **flags: Any) -> Sitting:
    here: Any = SimpleNamespace(rig=SimpleNamespace(contender_cores=(0, 1)), interrupted=threading.Event())
    return Sitting(
        task=Trying(folder=folder, **flags).task(None, AppAsking()),
        known=catalogue("go"),
        strapped=here,
        cache=folder,
        work=folder,
    )


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (
            {"cmd": ["nosuch {port}"]},
            r"--cmd 'nosuch \{port\}': there is no program 'nosuch' on PATH, in the",
        ),
        ({"cmd": ["./nosuch {port}"]}, r"there is no program './nosuch'"),
        ({"cmd": ["A=b nosuch {port}"]}, r"--cmd 'A=b nosuch \{port\}': there is no program 'nosuch' on PATH"),
        ({"cmd": ["PATH=/nowhere sh {port}"]}, r"there is no program 'sh' on PATH"),
        ({"cmd": ["sh {port}"], "current": "nosuch {bind}"}, r"--current 'nosuch \{bind\}': there is no program"),
    ],
)
def test_a_program_that_is_not_there_is_named(tmp_path: Path, flags: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        sitting(tmp_path, **flags).prepare()


def test_programs_are_found_on_path_in_the_folder_and_where_a_placeholder_names_them(tmp_path: Path) -> None:
    (tmp_path / "serve").touch()
    ready = sitting(tmp_path, cmd=["sh {port}", "./serve {port}", "/bin/sh {bind}", "{host} {port}"])
    ready.prepare()
    assert list(ready.commands) == ["cmd-1", "cmd-2", "cmd-3", "cmd-4"]


def test_an_engine_that_fails_at_the_end_is_a_note_and_hides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def ask(argv: Sequence[str], within_s: float | None = 30.0) -> Answered:
        raise MachineError(f"{argv[0]} ps did not answer within {within_s:g} s: does it hang?")

    monkeypatch.setattr("webdyno.session.tryout.sitting.asking", lambda *_: ask)
    ready = sitting(tmp_path)
    ready.strapped.token = "t0"
    engine = Engine("podman", "/usr/bin/podman", "4.3.1", ask)
    ready.images["image"] = Image(name="mine:1", id="", digest="", port=None, engine=engine)
    ready.leave()
    assert capsys.readouterr().err == (
        "note: containers of this sitting may be left: /usr/bin/podman ps did not answer within 30 s: does it hang?\n"
    )


def test_containers_are_called_as_in_the_sitting_that_began_it(tmp_path: Path) -> None:
    ready = sitting(tmp_path)
    ready.strapped.token = "t1"
    assert ready.token == "t1"
    found: Any = SimpleNamespace(token="t0")
    ready.began = found
    assert ready.token == "t0"


def test_who_may_listen_elsewhere_is_told_how_to_say_it(tmp_path: Path) -> None:
    ready = sitting(tmp_path, cmd=["sh start", "sh {port}"])
    ready.prepare()
    hint = ready._where_it_listens("cmd-1")
    assert hint == "it can learn its port only from PORT; write {port} where its port belongs"
    assert ready._where_it_listens("cmd-2") is None
    assert ready._where_it_listens("waitress-4t") is None
