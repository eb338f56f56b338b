"""Data: what stands in a service when a contender is asked for it. Deterministic, the same for everybody.

All of it has a name of webdyno's own (keys that begin with ``webdyno:``, a database ``webdyno``), because a service
that the user names may hold things that are dear to somebody.
"""

from __future__ import annotations

from typing import Any

KEY_STATIC, KEY_COUNTER = "webdyno:static", "webdyno:counter"
STATIC = "".join(chr(ord("a") + at % 26) for at in range(2000))
"""2,000 characters, one byte each."""

DATABASE, COLLECTION = "webdyno", "documents"
SMALL: dict[str, Any] = {"_id": 1, "hello": "world"}
"""One field beside its key, as study battle had it."""
BIG: dict[str, Any] = {"_id": 2} | {f"field{at:03}": f"val{at * 7919 % 1000:03}" for at in range(1, 301)}
"""301 fields, about 6 KB as JSON, as study battle had it."""
