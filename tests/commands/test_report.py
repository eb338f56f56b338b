"""``webdyno report``: pictures, where they go, and where they do not."""

from __future__ import annotations

import io
import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.analyse.fakes import FINGERPRINT, plan, run
from tests.report.fonts import only
from webdyno.commands import call
from webdyno.model.race import Race
from webdyno.store import Store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    runs = [run(name, workload=work, round_=r) for name in "ab" for work in ("hello", "json") for r in (1, 2)]
    with Store.create(tmp_path / "results", plan(runs), FINGERPRINT) as store:
        for each in runs:
            store.append(each)
    return tmp_path / "results"


class Out(io.TextIOWrapper):
    """Standard output as a terminal or a pipe."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8")
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


def test_a_picture_is_written_to_its_file_or_into_a_pipe(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, tmp_path, DejaVu_Sans=600)
    target, pipe = tmp_path / "answer.png", Out(terminal=False)
    assert call(["report", str(folder), "--format", "png", "--out", str(target)]) == 0
    monkeypatch.setattr(sys, "stdout", pipe)
    assert call(["report", str(folder), "--format", "png"]) == 0
    assert pipe.buffer.getvalue() == target.read_bytes()  # type: ignore[attr-defined]
    assert target.read_bytes().startswith(b"\x89PNG")


def test_a_terminal_gets_no_binary_but_may_have_svg(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = Out(terminal=True)
    monkeypatch.setattr(sys, "stdout", terminal)
    assert call(["report", str(folder), "--format", "png"]) == 2
    assert terminal.buffer.getvalue() == b""  # type: ignore[attr-defined]
    assert "a PNG cannot be printed on a terminal: name a file with --out" in capsys.readouterr().err
    assert call(["report", str(folder), "--format", "svg"]) == 0
    assert terminal.buffer.getvalue().startswith(b"<svg ")  # type: ignore[attr-defined]


def test_tables_are_chosen_by_their_number(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["report", str(folder), "--format", "svg", "--table", "2,2", "--dark"]) == 0
    svg = capsys.readouterr().out
    assert ">json, 64 connections, keep-alive</text>" in svg
    assert ">hello, 64 connections, keep-alive</text>" not in svg
    assert call(["report", str(folder), "--format", "svg", "--table", "3"]) == 2
    assert capsys.readouterr().err.startswith(
        "webdyno: --table 3: this folder has 2 tables: 1 hello, 64 connections, keep-alive; 2 json, 64 connections"
    )


@pytest.mark.parametrize("flags", [["--table", "1"], ["--dark"], ["--format", "html", "--table", "1"]])
def test_what_is_for_pictures_goes_with_pictures_only(
    flags: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["report", str(folder), *flags]) == 2
    assert "they need --format svg or --format png" in capsys.readouterr().err


def test_a_file_that_cannot_be_written_is_one_sentence(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    only(monkeypatch, tmp_path, DejaVu_Sans=600)
    assert call(["report", str(folder), "--format", "png", "--out", "/no/where.png"]) == 3
    assert "/no/where.png: the report could not be written" in capsys.readouterr().err


def test_without_a_folder_it_is_the_newest_which_is_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for age_s, name in ((3, "a-first"), (1, "c-newest"), (2, "b-second")):
        copied = shutil.copytree(folder, tmp_path / "some" / "results" / name) / "results.sqlite"
        os.utime(copied, ns=(10**18, 10**18 - age_s * 10**9))
    monkeypatch.chdir(tmp_path / "some")
    for _ in range(2):  # and reading another makes that no newer
        assert call(["report"]) == 0
        said = capsys.readouterr()
        assert said.err == "the newest results: results/c-newest\n"
        assert "Results: results/c-newest" in said.out
        assert call(["report", "results/a-first"]) == 0
        capsys.readouterr()


def test_without_a_folder_and_without_results_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call(["report"]) == 2
    assert capsys.readouterr().err.startswith("webdyno: report what? There is nothing in results: name a results fold")


def test_a_race_that_is_over_says_what_it_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [run(name, rate=rate, round_=r) for name, rate in (("a", 900.0), ("b", 100.0)) for r in (1, 2, 3, 4)]
    raced = plan(runs, race=Race(least_rounds=3, most_rounds=4), rounds=4)
    with Store.create(tmp_path / "r", raced, FINGERPRINT) as store:
        for each in runs:
            store.append(each)
    for form in ("terminal", "md"):
        assert call(["report", str(tmp_path / "r"), "--format", form]) == 0
        assert "; the order of 1 of 1 pair is decided." in capsys.readouterr().out
