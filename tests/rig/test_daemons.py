"""Daemons: found by what their command lines hold, with what they start; moved, and put back where they were."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.rig.strapping import here, python, wait_for
from webdyno.rig.daemons import Daemons, confined
from webdyno.rig.here import Here

__all__ = ["here"]
PARENT = "import subprocess, sys; subprocess.run([sys.executable, '-S', '-c', 'import time; time.sleep(60)'])"
CORES = sorted(os.sched_getaffinity(0))


@pytest.mark.skipif(len(CORES) < 2, reason="one core is all there is")
def test_they_and_their_children_are_moved_and_put_back(here: Here, tmp_path: Path) -> None:
    sign = f"session_{tmp_path.name}_{os.getpid()}"
    group = here.start(python(PARENT, sign, role="tool"))
    wait_for(lambda: len(Daemons(sign).pids()) > 1)
    with confined(sign, CORES[:1]) as daemons:
        assert daemons is not None and daemons.are_confined
        assert all(os.sched_getaffinity(pid) == set(CORES[:1]) for pid in daemons.pids())
    assert all(os.sched_getaffinity(pid) == set(CORES) for pid in Daemons(sign).pids())
    group.end(0.0)


def test_where_there_are_none_nothing_is_said_to_be_confined() -> None:
    with confined("session_of_nobody_at_all", CORES) as daemons:
        assert daemons is not None and not daemons.are_confined and daemons.pids() == []
    with confined(None, CORES) as daemons:
        assert daemons is None
