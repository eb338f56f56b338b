"""The machine in a few lines, and how loaded it was while we measured."""

from __future__ import annotations

import datetime
import os
import time
from pathlib import Path

import msgspec

from webdyno.rig.fingerprint import read_fingerprint

_TICK_NAMES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


class Watch:
    """Load of the machine from its making until ``seen``: what is not ours is what disturbs."""

    def __init__(self) -> None:
        self._fingerprint = read_fingerprint()
        self._at = datetime.datetime.now(datetime.UTC)
        self._began = time.monotonic()
        self._ticks = _ticks()
        self._loads = [os.getloadavg()[0]]

    def look(self) -> None:
        """Note the load now; called between cases."""
        self._loads.append(os.getloadavg()[0])

    def seen(self) -> dict[str, object]:
        """Everything a reader must know about the circumstances, for ``--json``."""
        self.look()
        spent = {name: now - then for name, now, then in zip(_TICK_NAMES, _ticks(), self._ticks, strict=True)}
        total = sum(spent.values()) or 1
        return {
            "date": self._at.strftime("%Y-%m-%d %H:%M UTC"),
            "seconds": round(time.monotonic() - self._began, 1),
            "load_average": [min(self._loads), max(self._loads)],
            "idle_share": round(spent["idle"] / total, 3),
            "steal_share": round(spent["steal"] / total, 3),
            "fingerprint": msgspec.to_builtins(self._fingerprint),
        }


def lines(seen: dict[str, object]) -> list[str]:
    """The same for a person."""
    print_of = seen["fingerprint"]
    if not isinstance(print_of, dict):
        raise TypeError("a fingerprint is an object")
    low, high = seen["load_average"] if isinstance(seen["load_average"], list) else (0.0, 0.0)
    return [
        f"{print_of['cpu_model']}, {print_of['cores_usable']} of {print_of['cores']} cores "
        f"({print_of['threads_per_core'] or '?'} threads per core), "
        f"{print_of['memory_bytes'] / 2**30:.1f} GiB, {print_of['virtualisation'] or 'no hypervisor found'}, "
        f"kernel {print_of['kernel']}, {print_of['distribution']}, Python {print_of['python']}",
        f"{seen['date']}, {seen['seconds']} s; one-minute load {low:.1f} to {high:.1f} (our own load is part of it), "
        f"idle {100 * float(str(seen['idle_share'])):.0f} %, stolen {100 * float(str(seen['steal_share'])):.1f} %",
    ]


def _ticks() -> list[int]:
    """The first line of /proc/stat: where all cores' time went since boot."""
    return [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1 : len(_TICK_NAMES) + 1]]
