"""Placeholders: the few words in braces that a contender's command and environment may use, and
how they are filled.

Braces around anything else than one bare word (JSON, say) are left as they are.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence

PLACEHOLDERS = ("bind", "host", "port", "workers", "threads", "cores", "pool")
"""``bind`` is ``host:port``, with brackets around an IPv6 address."""
_WORD = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def placeholders(text: str) -> list[str]:
    """Every word in braces, known or not, in the order of ``text``."""
    return _WORD.findall(text)


def fill(
    words: Sequence[str], *, host: str, port: int, workers: int, threads: int, cores: int, pool: int | None = None
) -> list[str]:
    """``words`` with every placeholder replaced. ValueError, with a sentence, for one that does not exist."""
    bind = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    values = dict(zip(PLACEHOLDERS, (bind, host, port, workers, threads, cores, pool), strict=True))
    return replace(words, {name: value for name, value in values.items() if value is not None})


def replace(words: Sequence[str], values: Mapping[str, object]) -> list[str]:
    """``words`` with the placeholders that ``values`` names replaced. ValueError, with a sentence, for any other."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            near = difflib.get_close_matches(match[1], values, n=1)
            hint = f"did you mean {{{near[0]}}}?" if near else f"there are {', '.join(f'{{{n}}}' for n in values)}"
            raise ValueError(f"{{{match[1]}}} in {match.string!r} is not a placeholder; {hint}")
        return str(values[match[1]])

    return [_WORD.sub(value, word) for word in words]
