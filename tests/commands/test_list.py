"""``webdyno list``: one line for each, whatever the width; ``--wide`` has the rest."""

from __future__ import annotations

import pytest

from tests import shipped
from webdyno.commands import call

KINDS = ("contenders", "studies", "workloads", "apps", "runtimes", "services", "matrices")


def lines(line: str, width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    assert call(line.split()) == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("kind", KINDS)
def test_each_is_one_line_at_any_width(
    kind: str, width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = getattr(shipped.catalogue(), kind)
    rows = lines(f"list {kind}", width, monkeypatch, capsys)[1 : len(known) + 1]
    assert [row.split()[0] for row in rows] == list(known)
    assert max(map(len, rows)) <= width


def test_a_contender_is_its_name_server_runtime_and_model(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    head, *rows, more = lines("list --study quickstart", 80, monkeypatch, capsys)
    assert head.split() == ["name", "server", "runtime", "model"]
    assert [row.split()[:3] for row in rows if row.startswith("uvicorn ")] == [["uvicorn", "uvicorn", "cpython-3.11"]]
    assert more.endswith("every column: --wide")


def test_what_is_too_long_is_cut_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, narrow = (lines("list --study quickstart", width, monkeypatch, capsys) for width in (140, 60))
    assert not any(row.endswith("...") for row in whole)
    assert any(row.endswith("...") for row in narrow)


def test_wide_shows_every_column(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    told = " ".join(lines("list --study quickstart --wide", 140, monkeypatch, capsys))
    assert all(title in told for title in ("framework", "workers", "threads", "answers", "2 * cores + 1"))
