"""A report file is whole or as it was before, whatever cuts its writing off, and goes where it was to go."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from webdyno.model.errors import MachineError
from webdyno.session.reports import write


def test_one_that_is_cut_off_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "report.html"
    write(page, "of yesterday")

    def cut_off(*_: Any) -> None:
        assert (tmp_path / ".report.html.new").read_text() == "of today"
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "replace", cut_off)
        write(page, "of today")
    assert page.read_text() == "of yesterday"
    write(page, "of today")
    assert page.read_text() == "of today"
    assert [*tmp_path.iterdir()] == [page]


def test_what_lies_where_the_fresh_one_is_written_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    (tmp_path / ".report.html.new").symlink_to(tmp_path / "mine")
    write(tmp_path / "report.html", "of today")
    assert (tmp_path / "mine").read_text() == "mine"
    assert not (tmp_path / "report.html").is_symlink()


def test_a_pipe_and_a_link_stay_what_they_are(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reading = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write(tmp_path / "pipe", "told")
    assert os.read(reading, 9) == b"told"
    os.close(reading)
    (tmp_path / "link").symlink_to(tmp_path / "page")
    write(tmp_path / "link", "told")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "page").read_text() == "told"


def test_what_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="the report could not be written: No such file or directory; name another"):
        write(tmp_path / "nowhere" / "report.html", "told")
