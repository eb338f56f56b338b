"""Disks that are full at any byte: what a results folder says then, and what it still has once there is room."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.disks import resize, small_disk
from tests.test_store import FINGERPRINT, plan, run
from webdyno.model.errors import MachineError
from webdyno.store import Store

pytestmark = [pytest.mark.live, pytest.mark.torture, pytest.mark.timeout(300)]

PAGE_BYTES = 4096
MOST_PAGES = 100
ROOM_BYTES = 8 << 20


@pytest.mark.parametrize("first", range(1, MOST_PAGES, 10))
def test_a_disk_that_is_full_at_any_page_leaves_every_run_that_was_written_or_no_folder(
    tmp_path: Path, first: int
) -> None:
    """The results folder's disk is full at any byte: one sentence; Runs so far are read and resumed, or no folder."""
    for pages in range(first, first + 10):
        with small_disk(tmp_path / "disk", pages * PAGE_BYTES) as disk:
            kept = written_until_full(disk / "r")
            if kept is None:
                assert not (disk / "r").exists(), pages
                continue
            for way in (Store.open, Store.peek):
                with way(disk / "r") as store:
                    assert len(store.runs()) == kept, pages
            resize(disk, ROOM_BYTES)
            with Store.open(disk / "r", writable=True) as store:
                store.add_fingerprint(FINGERPRINT)
                assert store.append(run(1)) == kept + 1, pages
            with Store.open(disk / "r") as store:
                assert len(store.runs()) == kept + 1, pages


def written_until_full(folder: Path) -> int | None:
    """How many Runs were written before the disk was full; None: it had not even room to begin."""
    try:
        store = Store.create(folder, plan(), FINGERPRINT)
    except MachineError as error:
        assert_named(error, folder, "nothing was measured yet")
        return None
    with store:
        for kept in range(1000):
            try:
                store.append(run(kept % 3 + 1, log_tail="x" * 3000))
            except MachineError as error:
                assert_named(error, folder, "the Runs so far are kept")
                return kept
    raise AssertionError("it is never full")


def assert_named(error: MachineError, folder: Path, kept: str) -> None:
    """One sentence with path, disk and what is next."""
    said = str(error)
    assert str(folder) in said
    assert f"the disk at {folder.parent} (" in said
    assert f"is full; {kept}: make room; " in said
    assert "\n" not in said
