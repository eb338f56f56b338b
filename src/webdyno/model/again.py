"""Again: what a plan needs to go on and no results file keeps, given anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Again:
    """Values of secret headers, and of the variables of a command."""

    headers: Sequence[tuple[str, str]] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
