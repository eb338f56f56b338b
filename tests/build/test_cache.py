"""A folder in the cache is there whole or not at all, and is made by one at a time."""

from __future__ import annotations

import tarfile
import threading
from pathlib import Path

import pytest

from webdyno.build.cache import MARKER, Complete, alone, clear, complete, pack, publish, unpack
from webdyno.model.errors import MachineError

WHOLE = Complete(versions={"fast": "1.0"}, seconds=2.5)


def test_a_folder_counts_once_it_is_published(tmp_path: Path) -> None:
    folder = tmp_path / "key"
    assert complete(folder) is None
    folder.mkdir()
    assert complete(folder) is None
    publish(folder, WHOLE)
    assert complete(folder) == WHOLE
    assert [path.name for path in folder.iterdir()] == [MARKER]


@pytest.mark.parametrize("rest", [b"", b"{", b'{"versions": 1}', b'{"seconds": 1}'])
def test_a_broken_marker_does_not_count(tmp_path: Path, rest: bytes) -> None:
    (tmp_path / MARKER).write_bytes(rest)
    assert complete(tmp_path) is None


def test_what_an_unfinished_build_left_is_cleared(tmp_path: Path) -> None:
    folder = tmp_path / "key"
    clear(folder)
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "half").touch()
    clear(folder)
    assert not folder.exists()


def test_a_second_maker_waits_for_the_first(tmp_path: Path) -> None:
    order: list[str] = []
    held = threading.Event()

    def second() -> None:
        held.wait()
        with alone(tmp_path / "key", threading.Event()):
            order.append("second")

    thread = threading.Thread(target=second)
    thread.start()
    with alone(tmp_path / "key", threading.Event()):
        held.set()
        thread.join(0.2)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_waiting_ends_when_the_user_wants_to_stop(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    with alone(tmp_path / "key", threading.Event()), pytest.raises(KeyboardInterrupt), alone(tmp_path / "key", stop):
        raise AssertionError("it is held by somebody else")


def test_what_is_packed_is_unpacked_as_it_was_links_and_rights_included(tmp_path: Path) -> None:
    made, again = tmp_path / "made", tmp_path / "again"
    (made / "bin").mkdir(parents=True)
    (made / "bin" / "start").write_text("#!/bin/sh")
    (made / "bin" / "start").chmod(0o755)
    (made / "bin" / "python").symlink_to("/usr/bin/python3")
    publish(made, WHOLE)
    pack(made, tmp_path / "packed")
    (again / "half").mkdir(parents=True)
    unpack(tmp_path / "packed", again, threading.Event())
    assert complete(again) == WHOLE and not (again / "half").exists()
    assert (again / "bin" / "start").stat().st_mode & 0o777 == 0o755
    assert str((again / "bin" / "python").readlink()) == "/usr/bin/python3"


@pytest.mark.parametrize("name", ["../out", "/out"])
def test_a_packed_build_whose_names_lead_out_of_its_folder_is_refused(tmp_path: Path, name: str) -> None:
    with tarfile.open(tmp_path / "packed", "w:gz") as archive:
        archive.addfile(tarfile.TarInfo(name))
    with pytest.raises(MachineError, match="leads out of"):
        unpack(tmp_path / "packed", tmp_path / "key", threading.Event())
    assert complete(tmp_path / "key") is None and not (tmp_path / "out").exists()
