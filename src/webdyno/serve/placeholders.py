"""Placeholders: ``{bind} {host} {port} {workers} {threads} {cores}`` in a contender's command and environment.

Only a single word in braces is one; other braces (JSON in an argument, say) stay as they are.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence

_WORD = re.compile(r"\{([A-Za-z_]+)\}")


def fill(words: Sequence[str], *, host: str, port: int, workers: int, threads: int, cores: int) -> list[str]:
    """``words`` with every placeholder replaced. ValueError, with a sentence, for one that does not exist."""
    bind = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    values = {
        "bind": bind,
        "host": host,
        "port": str(port),
        "workers": str(workers),
        "threads": str(threads),
        "cores": str(cores),
    }
    return [_fill(word, values) for word in words]


def _fill(text: str, values: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name not in values:
            near = difflib.get_close_matches(name, values, n=1)
            hint = f"did you mean {{{near[0]}}}?" if near else f"there are {', '.join(f'{{{n}}}' for n in values)}"
            raise ValueError(f"{{{name}}} in {text!r} is not a placeholder; {hint}")
        return values[name]

    return _WORD.sub(value, text)
