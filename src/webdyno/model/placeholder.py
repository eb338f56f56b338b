"""Placeholders: the few words in braces that a contender's command and environment may use.

Braces around anything else than one bare word (JSON, say) are left as they are.
"""

from __future__ import annotations

import re

PLACEHOLDERS = ("bind", "host", "port", "workers", "threads", "cores")
"""``bind`` is ``host:port``, with brackets around an IPv6 address."""
_WORD = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def placeholders(text: str) -> list[str]:
    """Every word in braces, known or not, in the order of ``text``."""
    return _WORD.findall(text)
