"""What a contender needs of the system: missing, it is one line that says what to install."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes import contender
from webdyno.build import lacking

LIBEV = "libev and a C compiler: apt-get install libev-dev gcc"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A system with folders and nothing in them."""
    for folder in ("usr/bin", "usr/include", "usr/lib/x86_64-linux-gnu"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setenv("PATH", str(tmp_path / "usr/bin"))
    monkeypatch.setattr("webdyno.build.needs.SYSTEM_PATH", str(tmp_path / "usr/sbin"))
    return tmp_path


def write_program(root: Path, name: str) -> None:
    (root / "usr/bin" / name).write_text("#!/bin/sh\n")
    (root / "usr/bin" / name).chmod(0o755)


def test_what_needs_nothing_lacks_nothing(root: Path) -> None:
    assert lacking(contender("plain"), root) is None


def test_each_missing_program_and_header_is_named_with_what_to_install(root: Path) -> None:
    it = contender("bjoern", looks_for=["ev.h", "cc"], needs=LIBEV)
    write_program(root, "ev.h")  # a header is no program
    assert lacking(it, root) == (
        "there is no ev.h, no cc here; it needs libev and a C compiler: apt-get install libev-dev gcc"
    )
    write_program(root, "cc")
    assert lacking(it, root) == f"there is no ev.h here; it needs {LIBEV}"


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("ev.h", "usr/include/ev.h"),
        ("libuv.so.1", "usr/lib/x86_64-linux-gnu/libuv.so.1"),
        ("libuv.so.1", "usr/lib/libuv.so.1"),
    ],
)
def test_what_is_there_is_not_missed(root: Path, name: str, path: str) -> None:
    it = contender("it", looks_for=[name], needs=LIBEV)
    assert lacking(it, root) == f"there is no {name} here; it needs {LIBEV}"
    (root / path).touch()
    assert lacking(it, root) is None


def test_a_file_that_cannot_be_executed_is_no_program(root: Path) -> None:
    (root / "usr/bin/apxs").touch(mode=0o644)
    reason = lacking(contender("apache", looks_for=["apxs"], needs="Apache: apt-get install apache2-dev"), root)
    assert reason == "there is no apxs here; it needs Apache: apt-get install apache2-dev"


def test_programs_of_the_system_are_found_though_they_are_not_on_the_users_path(root: Path) -> None:
    (root / "usr/sbin").mkdir()
    (root / "usr/sbin/apache2").touch(mode=0o755)
    assert lacking(contender("apache", looks_for=["apache2"], needs="Apache"), root) is None
