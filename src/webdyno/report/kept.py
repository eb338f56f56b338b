"""How contenders were kept to limits, and as whom they ran, in words."""

from __future__ import annotations

from webdyno.model.rig import Rig
from webdyno.model.way import AS_USER, OWN_NETWORK, WAYS


def kept(rig: Rig) -> str:
    """``cgroup: cores, memory and processes limited by a cgroup of its own``, and as whom."""
    more = [*([AS_USER] if rig.as_user else []), *([OWN_NETWORK] if rig.own_network else [])]
    return ", ".join([f"{rig.way}: {WAYS[rig.way]}", *more])
