"""Disk: which one it is and what it refuses, in words."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

import pytest

from webdyno.disk import disk_of, is_full, naming, refused


def test_a_disk_is_named_by_where_it_is_mounted_and_what_it_has_left(tmp_path: Path) -> None:
    said = disk_of(tmp_path / "not" / "there" / "yet")
    assert re.fullmatch(r"the disk at /\S* \([\d,.]+ MB free of [\d,.]+ MB\)", said)
    assert disk_of(Path("/proc/self")).startswith("the disk at /proc (")


def test_a_disk_without_room_for_another_file_is_full_though_it_has_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not is_full(tmp_path)
    files = os.statvfs_result((4096, 4096, 1000, 900, 900, 50, 0, 0, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: files)
    assert is_full(tmp_path)
    assert disk_of(tmp_path).endswith("(3.7 MB free of 4.1 MB, and no room for another file)")
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((4096, 4096, 1000, 900, 0, 50, 9, 9, 0, 255)))
    assert is_full(tmp_path)


def test_only_what_a_disk_refuses_is_said_of_it(tmp_path: Path) -> None:
    assert refused(OSError(errno.EACCES, "Permission denied"), tmp_path) is None
    assert (refused(OSError(errno.EROFS, ""), tmp_path) or "").endswith(" can only be read")


def test_an_error_of_an_open_file_is_given_its_name(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="full") as caught, naming(tmp_path / "log"):
        raise OSError(errno.ENOSPC, "full")
    assert caught.value.filename == str(tmp_path / "log")
    with pytest.raises(OSError, match="full") as caught, naming(tmp_path / "log"):
        raise OSError(errno.ENOSPC, "full", "other")
    assert caught.value.filename == "other"
