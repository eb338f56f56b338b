"""Patience: how long the head of a Ray cluster waits for a node before it calls it dead. Busy is not dead.

A host at full CPU may answer its head late. Only the head's environment decides how late is too late, so it is looked
at where the head runs; no other machine can know it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from webdyno.rig.process import all_stats, name_of

LEAST_S = 30.0
"""A pause that a loaded host was seen to make is shorter."""
HEAD = "gcs_server"
_PERIOD, _TIMEOUT, _FAILURES = "period_ms", "timeout_ms", "failure_threshold"
_DEFAULTS = {_PERIOD: 3000, _TIMEOUT: 10000, _FAILURES: 5}
"""Those of Ray 2.60."""
_SET = re.compile(rb"RAY_health_check_([a-z_]+)=([0-9]{1,12})")


def patience_here(proc: Path = Path("/proc")) -> float | None:
    """Seconds that the head on this host, in this network, gives a node that does not answer; None: no head is here."""
    here = _network(proc, os.getpid())
    for pid in all_stats():
        if name_of(pid) == HEAD and _network(proc, pid) == here:
            try:
                return patience_in((proc / str(pid) / "environ").read_bytes())
            except OSError:  # another user's, or it has just ended
                return None
    return None


def patience_in(environment: bytes) -> float:
    """The same, from the environment it started with: this many failures in a row, each after a pause and a wait."""
    found = dict(_DEFAULTS)
    for entry in environment.split(b"\0"):
        if (match := _SET.fullmatch(entry)) and (name := match[1].decode()) in found:
            found[name] = int(match[2])
    return found[_FAILURES] * (found[_PERIOD] + found[_TIMEOUT]) / 1000


def _network(proc: Path, pid: int) -> str | None:
    try:
        return str((proc / str(pid) / "ns" / "net").readlink())
    except OSError:
        return None
