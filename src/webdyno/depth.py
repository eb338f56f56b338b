"""Depth: whether a JSON text is nested deeper than anything that webdyno writes.

It is asked before the text is decoded. How deep a decoder goes before it gives up depends on the Python it runs in, and
on the stack of the thread: a text that was made to harm must not be what finds out.
"""

from __future__ import annotations

DEEPEST = 32
_SHORT_BYTES, _FEW = 8 << 10, 500
"""A text that is this short, or has so few brackets, fills no stack however it is nested, and is not looked at."""
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
"""One down and one up, as bytes with a sign; quotes stay."""
_NO_BRACKETS = bytes(set(range(256)) - set(b'[]{}"'))
_QUOTE = ord('"')
_AT_ONCE = 1 << 20


def is_deep(text: bytes) -> bool:
    """Whether its brackets, not counting those within strings, are nested more than DEEPEST deep, closed or not."""
    if len(text) <= _SHORT_BYTES or text.count(b"[") + text.count(b"{") <= _FEW:
        return False
    import numpy as np  # a tenth of a second, which few texts are worth

    bare = text.replace(rb"\\", b"").replace(rb"\"", b"").translate(_STEPS, _NO_BRACKETS)
    signs, depth, within = np.frombuffer(bare, np.int8), 0, 0
    for at in range(0, len(signs), _AT_ONCE):
        some = signs[at : at + _AT_ONCE]
        strings = (within + np.cumsum(some == _QUOTE, dtype=np.int32)) % 2  # 1 from a quote to before the next
        depths = depth + np.cumsum(np.where((strings == 1) | (some == _QUOTE), 0, some), dtype=np.int32)
        if depths.max() > DEEPEST:
            return True
        depth, within = int(depths[-1]), int(strings[-1])
    return False
