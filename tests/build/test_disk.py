"""What the disk of the cache refuses is said of the disk, and no contender is to blame for it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tests.build.conftest import installs
from tests.build.fake_host import FakeHost
from webdyno.build import Job, build, build_all
from webdyno.build import cache as kept
from webdyno.build.cache import MARKER
from webdyno.model.built import Built
from webdyno.model.errors import BuildError, MachineError
from webdyno.rig.host import Command

NEXT = r"builds are kept in {}: make room, restore its permissions, or name a folder on another disk with "


@pytest.mark.parametrize("said", ["error: No space left on device (os error 28)", "npm error code ENOSPC"])
def test_a_tool_that_has_no_room_ends_the_plan_with_the_disk_and_the_cache(job: Job, tmp_path: Path, said: str) -> None:
    def full(command: Command) -> str | int:
        assert isinstance(command.stdout, Path)
        if "install" not in command.argv:
            return installs(command)
        command.stdout.write_text(said)
        return 1

    with pytest.raises(MachineError) as caught:
        build_all([job], tmp_path / "cache", FakeHost(full))
    assert "is full; builds are kept in" in str(caught.value)
    assert "could not install" in str(caught.value)
    assert ": the disk at /" in str(caught.value)
    caught.match(NEXT.format(tmp_path / "cache"))


def test_a_build_that_fails_for_another_reason_is_still_its_contender_s(job: Job, tmp_path: Path) -> None:
    failed = build_all([job], tmp_path / "cache", FakeHost(lambda _: 1))
    assert isinstance(failed["fast"], BuildError)


@pytest.mark.parametrize(
    ("number", "why"),
    [(errno.ENOSPC, "is full"), (errno.EROFS, "can only be read"), (errno.EDQUOT, "quota of this user")],
)
def test_what_we_cannot_write_ourselves_names_path_and_disk(
    job: Job, host: FakeHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, why: str
) -> None:
    def refuse(folder: Path, _: object) -> None:
        raise OSError(number, os.strerror(number), str(folder / MARKER))

    monkeypatch.setattr("webdyno.build.make.publish", refuse)
    with pytest.raises(MachineError, match=rf"/{MARKER}: the disk at / ?.*{why}") as caught:
        build(*job, tmp_path / "cache", host)
    caught.match(NEXT.format(tmp_path / "cache"))


def test_a_cache_that_is_a_file_or_has_no_rights_is_named(job: Job, host: FakeHost, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("")
    with pytest.raises(MachineError, match=r"/cache/logs: not a directory; it lies on the disk at /") as caught:
        build(*job, tmp_path / "cache", host)
    caught.match(NEXT.format(tmp_path / "cache"))


def test_a_cache_that_lost_its_builds_is_built_again(job: Job, host: FakeHost, tmp_path: Path) -> None:
    first = build(*job, tmp_path / "cache", host)
    kept.clear(tmp_path / "cache")
    again = build(*job, tmp_path / "cache", host)
    assert isinstance(first, Built)
    assert (again.key, again.directory) == (first.key, first.directory)
    assert again.seconds > 0
