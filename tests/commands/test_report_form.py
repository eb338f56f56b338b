"""The form of a report: by its flag, else by the name of the file it goes into."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.test_export import FIRST, run
from tests.test_store import made
from webdyno.commands import call

OLD = sorted((Path(__file__).parent.parent / "golden" / "store").glob("*.sqlite"))[-1]


@pytest.mark.parametrize(
    ("name", "begins"), [("page.html", "<!doctype html>"), ("a.CSV", "study,"), ("a.json", "{"), ("a.txt", "# ")]
)
def test_a_file_gets_the_form_its_name_ends_in(
    tmp_path: Path, name: str, begins: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(OLD, tmp_path / "results.sqlite")
    out = tmp_path / name
    assert call(["report", str(tmp_path), "--out", str(out)]) == 0
    assert out.read_text("utf-8").lower().startswith(begins)
    assert capsys.readouterr().out == ""


def test_a_flag_that_contradicts_the_name_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(OLD, tmp_path / "results.sqlite")
    assert call(["report", str(tmp_path), "-f", "md", "-o", str(tmp_path / "page.html")]) == 2
    assert "--format md and --out" in capsys.readouterr().err
    assert call(["report", str(tmp_path), "--json", "-o", str(tmp_path / "page.html")]) == 2
    assert "--format json and --out" in capsys.readouterr().err
    assert call(["report", str(tmp_path), "-f", "json", "-o", str(tmp_path / "page.json")]) == 0
    assert json.loads((tmp_path / "page.json").read_text("utf-8"))


def test_an_export_of_a_named_file_lies_beside_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made(tmp_path / "study-1", run(FIRST))
    assert call(["export", str(tmp_path / "study-1" / "results.sqlite"), "-f", "hlog"]) == 0
    (log,) = (tmp_path / "study-1" / "hlog").iterdir()
    assert capsys.readouterr().err == f"{log}\n"
