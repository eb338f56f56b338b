"""What files say is shown as it stands there: a word in brackets is no colour."""

from __future__ import annotations

from pathlib import Path

import pytest

from webdyno.commands import call

CONTENDER = """
app = "python-wsgi"
runtime = "cpython-3.11"
server = "mine[standard]"
model = "threads [bold]"
requires = ["waitress==3.0.2"]
serve = ["waitress-serve", "--listen={bind}", "app:app"]
because = "tests"
author = "tests"
"""
STUDY = """
title = "Mine [dim] and not"
question = "Who is [red]?"
contenders = ["mine"]
workloads = ["hello"]
[[loads]]
connections = [4]
duration_s = 1
"""


@pytest.fixture
def folder(tmp_path: Path) -> str:
    for kind, text in (("contenders", CONTENDER), ("studies", STUDY)):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "mine.toml").write_text(text)
    return str(tmp_path)


def test_a_list_shows_brackets(
    folder: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert call(["list", "--study", "mine", "--catalogue", folder]) == 0
    shown = capsys.readouterr().out
    assert "mine[standard]" in shown
    assert "threads [bold]" in shown


def test_a_plan_shows_brackets(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["plan", "mine", "--catalogue", folder]) == 0
    title, question, *_ = capsys.readouterr().out.splitlines()
    assert (title, question) == ("Mine [dim] and not", "Who is [red]?")
