"""Processes as /proc shows them."""

from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path

from webdyno.rig.process import (
    all_stats,
    ancestors,
    boot_id,
    children,
    is_running,
    mark_of,
    name_of,
    read_stat,
    set_subreaper,
)


def test_a_name_with_parentheses_and_blanks_does_not_confuse() -> None:
    before = Path("/proc/self/comm").read_text().strip()
    ctypes.CDLL(None).prctl(15, b"a) R (b", 0, 0, 0)  # PR_SET_NAME
    try:
        stat = read_stat(os.getpid())
    finally:
        ctypes.CDLL(None).prctl(15, before.encode(), 0, 0, 0)
    assert stat is not None
    assert (stat.pid, stat.parent, stat.session) == (os.getpid(), os.getppid(), os.getsid(0))
    assert stat.alive


def test_a_process_that_is_gone_reads_as_nothing() -> None:
    with subprocess.Popen(["/bin/true"]) as process:
        pid = process.pid
    assert read_stat(pid) is None
    assert mark_of(pid) is None
    assert name_of(pid) == "?"
    assert not is_running(pid, 1)


def test_a_zombie_is_not_alive() -> None:
    process = subprocess.Popen(["/bin/true"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    stat = read_stat(process.pid)
    assert stat is not None
    assert not stat.alive
    assert process.pid in children()
    process.wait()


def test_everybody_is_listed() -> None:
    stats = all_stats()
    assert os.getpid() in stats
    assert set(ancestors(os.getpid())) <= set(stats)
    assert ancestors(os.getpid())[0] == os.getppid()


def test_the_boot_has_a_name() -> None:
    assert boot_id() == boot_id() != ""


def test_the_subreaper_can_be_set_and_put_back() -> None:
    before = set_subreaper(True)
    assert set_subreaper(before) is True
    assert set_subreaper(before) is before
