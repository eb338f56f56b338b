"""Small disks, mounted where that is allowed: a test that needs one is skipped elsewhere."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def resize(folder: Path, size_bytes: int) -> None:
    """Make room, or take it away."""
    subprocess.run(["mount", "-o", f"remount,size={size_bytes}", str(folder)], check=True)


@contextmanager
def small_disk(folder: Path, size_bytes: int) -> Iterator[Path]:
    """``folder`` as a disk of that size."""
    folder.mkdir(exist_ok=True)
    asked = ["mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "tmpfs", str(folder)]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no program mount")
    if done.returncode:
        pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
