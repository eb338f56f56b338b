"""What a sitting finds wrong before servers are built for it."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.fakes import catalogue
from webdyno.commands.trying.asking import AppAsking
from webdyno.commands.trying.flags import Trying
from webdyno.commands.trying.sitting import Sitting
from webdyno.model.errors import UsageError


def sitting(folder: Path, **flags: Any) -> Sitting:
    here: Any = SimpleNamespace(rig=SimpleNamespace(contender_cores=(0, 1)))
    return Sitting(
        flags=Trying(folder=folder, **flags),
        asking=AppAsking(),
        known=catalogue("go"),
        strapped=here,
        cache=folder,
        work=folder,
        interrupted=threading.Event(),
    )


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (
            {"cmd": ["nosuch {port}"]},
            r"--cmd 'nosuch \{port\}': there is no program 'nosuch' on PATH, in the",
        ),
        ({"cmd": ["./nosuch {port}"]}, r"there is no program './nosuch'"),
        ({"cmd": ["A=b sh {port}"]}, r"there is no program 'A=b' .*; variables go into --env-file"),
        ({"cmd": ["sh {port}"], "current": "nosuch {bind}"}, r"--current 'nosuch \{bind\}': there is no program"),
    ],
)
def test_a_program_that_is_not_there_is_named(tmp_path: Path, flags: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        sitting(tmp_path, **flags).prepare(None)


def test_programs_are_found_on_path_in_the_folder_and_where_a_placeholder_names_them(tmp_path: Path) -> None:
    (tmp_path / "serve").touch()
    ready = sitting(tmp_path, cmd=["sh {port}", "./serve {port}", "/bin/sh {bind}", "{host} {port}"])
    ready.prepare(None)
    assert list(ready.commands) == ["cmd-1", "cmd-2", "cmd-3", "cmd-4"]


def test_a_folder_that_is_a_file_is_called_one(tmp_path: Path) -> None:
    (tmp_path / "app.py").touch()
    with pytest.raises(UsageError, match=r"--folder .*app.py: it is a file"):
        _ = Trying(folder=tmp_path / "app.py").project_folder
