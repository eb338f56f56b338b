"""Functions of ``scipy.special`` by their names there: its import takes a third of a second, which the first call pays.

So a command that starts servers, loads them or is called wrongly does not wait for what only figures need.
"""

from __future__ import annotations

from typing import Any


def get_ready() -> None:
    """The import, ahead of the first call."""
    import scipy.special  # noqa: F401


def __getattr__(name: str) -> Any:
    """``special.stdtr`` is ``scipy.special.stdtr``."""
    import scipy.special

    return getattr(scipy.special, name)
