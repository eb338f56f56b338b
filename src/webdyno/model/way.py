"""Way: how contenders are kept to their cores and limits. What each guarantees: docs/how-to/fences.md."""

from __future__ import annotations

from typing import Literal

WayName = Literal["bare", "cgroup", "container"]
"""By affinity alone, in a cgroup of webdyno's, or in a container of an engine's (podman, docker)."""
