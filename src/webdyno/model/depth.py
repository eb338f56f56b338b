"""Depth: whether a JSON text is nested deeper than anything that webdyno writes.

It is asked before the text is decoded. How deep a decoder goes before it gives up depends on the Python it runs in, and
on the stack of the thread: a text that was made to harm must not be what finds out.
"""

from __future__ import annotations

DEEPEST = 32
_FEW = 500
"""With no more brackets than these, no stack is too small for a text, however they are nested."""
_ALIKE = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b'[]{}"'))


def is_deep(text: bytes) -> bool:
    """Whether its brackets, not counting those within strings, are nested more than DEEPEST deep, or never closed.

    A text of few brackets is not looked at: False.
    """
    if text.count(b"[") + text.count(b"{") <= _FEW:
        return False
    bare = text.replace(rb"\\", b"").replace(rb"\"", b"").translate(_ALIKE, _NO_BRACKETS)
    brackets, run = b"".join(bare.split(b'"')[::2]), b"[" * (DEEPEST + 1)
    for _ in range(DEEPEST):
        if run in brackets:
            return True
        brackets = brackets.replace(b"[]", b"")  # the innermost of each nest
    return b"[]" in brackets or run in brackets
