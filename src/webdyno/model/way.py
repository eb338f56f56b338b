"""Way: how contenders are kept to their cores and limits. What each guarantees: docs/how-to/fences.md."""

from __future__ import annotations

from typing import Literal

WayName = Literal["bare", "cgroup", "container"]
"""By affinity alone, in a cgroup of webdyno's, or in a container of an engine's (podman, docker)."""
LEAST_CPUS, MOST_CPUS = 0.01, 1024
"""Of a limit on CPU time, in cores' worth: the kernel takes no quota below a millisecond in a tenth of a second."""
WAYS: dict[WayName, str] = {
    "bare": "cores by affinity alone, no limit on memory or CPU time",
    "cgroup": "cores, memory and processes limited by a cgroup of its own, CPU time where that is asked",
    "container": "cores, memory, processes and CPU time limited by a container engine, this machine's files read-only, "
    "its network shared",
}
"""What each holds a contender to, in few words."""
AS_USER = "as throw-away users, without your files"
OWN_NETWORK = "without any network but loopback"
"""What ``--as-user`` adds, in few words; a network of its own is not possible with load from another machine."""
