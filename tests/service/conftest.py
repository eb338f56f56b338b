"""The rig fixtures."""

from __future__ import annotations

from tests.rig.strapping import here, own_lock, strapped

__all__ = ["here", "own_lock", "strapped"]
