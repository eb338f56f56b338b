"""What others take of a trial's cores: all that these gave or lost, less what is the trial's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from webdyno.measure.others import others_ns
from webdyno.rig.group import Group

TICK_NS = 10_000_000
STAT = """cpu  160 0 50 1000 0 0 0 9 0 0
cpu0 100 10 20 500 3 1 2 7 8 9
cpu1 50 0 20 400 0 0 0 2 0 0
cpu12 9 0 0 100 0 0 0 0 0 0
intr 5
"""


class Used:
    """A Group that used so much; None: the kernel does not tell."""

    def __init__(self, user_ns: int | None) -> None:
        self._user_ns = user_ns

    def cpu_ns(self) -> tuple[int, int] | None:
        return None if self._user_ns is None else (self._user_ns, 1)

    def pids(self) -> list[int]:
        return []


def groups(*used: int | None) -> list[Group]:
    return [cast(Group, cast(Any, Used(each))) for each in used]


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    (tmp_path / "stat").write_text(STAT)
    return tmp_path


def test_the_hypervisor_and_interrupts_are_others_and_waiting_is_nobody(proc: Path) -> None:
    assert others_ns([0], [], proc) == (100 + 10 + 20 + 1 + 2 + 7) * TICK_NS


def test_what_the_trial_uses_itself_is_not_others(proc: Path) -> None:
    assert others_ns([0, 1], groups(1_000_000_000, 199), proc) == (140 + 72) * TICK_NS - 1_000_000_201


def test_a_group_whose_use_is_unknown_leaves_it_unknown(proc: Path) -> None:
    assert others_ns([0], groups(5, None), proc) is None


def test_a_core_that_the_kernel_does_not_tell_of_leaves_it_unknown(proc: Path, tmp_path: Path) -> None:
    assert others_ns([0, 2], [], proc) is None
    assert others_ns([0], [], tmp_path / "nothing") is None
