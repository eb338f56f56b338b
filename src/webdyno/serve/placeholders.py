"""Placeholders: ``{bind} {host} {port} {workers} {threads} {cores}`` in a contender's command and environment.

Only a single word in braces is one; other braces (JSON in an argument, say) stay as they are.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

NAMES = ("bind", "host", "port", "workers", "threads", "cores")

_WORD = re.compile(r"\{([A-Za-z_]+)\}")


def fill(text: str, values: Mapping[str, str]) -> str:
    """``text`` with every placeholder replaced. ValueError, with a sentence, for one that does not exist."""

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name not in values:
            near = difflib.get_close_matches(name, values, n=1)
            hint = f"did you mean {{{near[0]}}}?" if near else f"there are {', '.join(f'{{{n}}}' for n in values)}"
            raise ValueError(f"{{{name}}} in {text!r} is not a placeholder; {hint}")
        return values[name]

    return _WORD.sub(value, text)


def values_for(host: str, port: int, workers: int, threads: int, cores: int) -> dict[str, str]:
    """What each placeholder stands for."""
    bind = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return dict(zip(NAMES, (bind, host, str(port), str(workers), str(threads), str(cores)), strict=True))
