"""Roll: which of a contender's processes was lost, which one took its place, and what the contender wrote of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from webdyno.conduct import roll as calling
from webdyno.conduct.roll import Roll, line_about
from webdyno.rig.process import Stat

LOG = "[1] [INFO] Booting worker with pid: 12\n[1] [ERROR] Worker (pid:12) was sent SIGKILL!\n[1] [INFO] pid: 123\n"


class Group:
    there: Sequence[int] = ()
    """Pids; those below 0 are of zombies."""

    def pids(self) -> list[int]:
        return [abs(pid) for pid in self.there]


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    def stat(pid: int) -> Any:
        return Stat(pid, "Z" if -pid in Group.there else "S", 1, 1, 1, 0, 0, 1, pid, 0)

    monkeypatch.setattr(calling, "read_stat", stat)
    monkeypatch.setattr(calling, "name_of", lambda pid: f"worker-{pid}")


def called(*looks: Sequence[int], log: str = "") -> list[tuple[int, bool]]:
    """Who was lost in these looks, of which the last one is after the load, and whether another took its place."""
    group: Any = Group()
    roll = Roll(group, lambda: log)
    for number, there in enumerate(looks, 1):
        Group.there = there
        roll.call(last=number == len(looks))
    return [(loss.pid, loss.replaced) for loss in roll.losses]


@pytest.mark.parametrize(
    ("looks", "lost"),
    [
        (([1, 12, 13], [1, 12, 13], [1, 12, 13]), []),
        (([1, 12, 13], [1, 13], [1, 13]), [(12, False)]),
        (([1, 12, 13], [1, 13, 14], [1, 13, 14]), [(12, True)]),
        (([1, 12, 13], [1, 13], [1, 13, 14]), [(12, True)]),
        (([1, 12], [1, 13], [1, 14], [1, 15]), [(12, True)]),
        (([1, 12], [1, 13], [1, 13], [1, 15]), [(12, True), (13, True)]),
        (([1, 12], [1, -12, 13], [1, 13]), [(12, True)]),
        (([1, 12, 13], [1, 12, 13], [1]), []),
        (([1, 12, 13], [1, 12, 13], [1, 13, 14]), [(12, True)]),
    ],
    ids=[
        "all stay",
        "one is lost",
        "it is replaced",
        "it is replaced later",
        "one for each request",
        "its successor too",
        "it waits for its parent",
        "they end with their connections",
        "it is replaced at the end",
    ],
)
def test_who_was_there_and_is_no_more_was_lost(looks: Sequence[Sequence[int]], lost: list[tuple[int, bool]]) -> None:
    assert called(*looks) == lost


@pytest.mark.parametrize(
    ("log", "line"),
    [
        (LOG, "[1] [ERROR] Worker (pid:12) was sent SIGKILL!"),
        ("Traceback:\nKeyError: 'x'\nstarting anew\n", "KeyError: 'x'"),
        ("all is well\n", ""),
    ],
    ids=["it names the pid", "it says why", "it says nothing"],
)
def test_the_contenders_own_line_is_told(log: str, line: str) -> None:
    assert line_about(log, 12) == line
