"""What a contender needs of the system: missing, it is one line that says what to install."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes import contender
from webdyno.build import lacking

LIBEV = "libev and a C compiler: apt-get install libev-dev gcc"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr("webdyno.build.needs.SYSTEM_PATH", str(folder))
    return folder


def write_program(folder: Path, name: str) -> None:
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)


def test_what_needs_nothing_lacks_nothing(programs: Path) -> None:
    assert lacking(contender("plain")) is None


def test_each_missing_program_and_header_is_named_with_what_to_install(programs: Path, tmp_path: Path) -> None:
    it = contender("bjoern", looks_for=["ev.h", "cc"], needs=LIBEV)
    write_program(programs, "ev.h")  # a header is no program
    assert lacking(it, (str(tmp_path),)) == (
        "there is no ev.h, no cc here; it needs libev and a C compiler: apt-get install libev-dev gcc"
    )
    write_program(programs, "cc")
    assert lacking(it, (str(tmp_path),)) == f"there is no ev.h here; it needs {LIBEV}"


def test_what_is_there_is_not_missed(programs: Path, tmp_path: Path) -> None:
    write_program(programs, "cc")
    (tmp_path / "ev.h").touch()
    it = contender("bjoern", looks_for=["ev.h", "cc"], needs=LIBEV)
    assert lacking(it, ("/nowhere", str(tmp_path))) is None


def test_a_file_that_cannot_be_executed_is_no_program(programs: Path) -> None:
    (programs / "apxs").touch(mode=0o644)
    reason = lacking(contender("apache", looks_for=["apxs"], needs="Apache: apt-get install apache2-dev"))
    assert reason == "there is no apxs here; it needs Apache: apt-get install apache2-dev"
