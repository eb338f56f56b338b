"""Fonts made by tests, so that no test depends on those of the machine: every ASCII letter is the same block."""

from __future__ import annotations

import struct
from functools import partial
from pathlib import Path

import pytest
import resvg_py

_EM = 1000
_LETTERS = range(0x20, 0x7F)


def only(patch: pytest.MonkeyPatch, folder: Path, **wide: int) -> None:
    """For resvg this machine has these families and no other: ``Noto_Sans=600`` is Noto Sans, 600 wide."""
    files = []
    for family, each in wide.items():
        file = folder / f"{family}.ttf"
        file.write_bytes(font(family.replace("_", " "), each))
        files.append(str(file))
    drawn = partial(resvg_py.svg_to_bytes, skip_system_fonts=True, font_files=files)
    patch.setattr(resvg_py, "svg_to_bytes", drawn)


def font(family: str, wide: int) -> bytes:
    """A TrueType font of that family, its letters blocks ``wide`` thousandths of its size wide."""
    made = _tables(family, wide)
    at = 12 + 16 * len(made)
    directory, content = [struct.pack(">IHHHH", 0x00010000, len(made), 0, 0, 0)], []
    for tag, table in sorted(made.items()):
        padded = table + b"\0" * (-len(table) % 4)
        total = sum(struct.unpack(f">{len(padded) // 4}I", padded)) & 0xFFFFFFFF
        directory.append(struct.pack(">4sIII", tag.encode(), total, at, len(table)))
        content.append(padded)
        at += len(padded)
    return b"".join([*directory, *content])


def _tables(family: str, wide: int) -> dict[str, bytes]:
    corners = struct.pack(">8h", 0, wide, 0, -wide, 0, 0, 700, 0)
    block = struct.pack(">5h2H4B", 1, 0, 0, wide, 700, 3, 0, 1, 1, 1, 1) + corners
    characters = struct.pack(">5H", 6, 10 + 2 * len(_LETTERS), 0, _LETTERS[0], len(_LETTERS))
    return {
        "cmap": struct.pack(">4HI", 0, 1, 3, 1, 12) + characters + struct.pack(">H", 1) * len(_LETTERS),
        "glyf": block,
        "head": struct.pack(
            ">4I2H2q4h2H3h", 0x10000, 0x10000, 0, 0x5F0F3CF5, 3, _EM, 0, 0, 0, 0, wide, 700, 0, 8, 2, 1, 0
        ),
        "hhea": struct.pack(">I3hH11hH", 0x10000, 800, -200, 0, wide, 0, 0, wide, 1, 0, 0, 0, 0, 0, 0, 0, 2),
        "hmtx": struct.pack(">HhHh", wide, 0, wide, 0),
        "loca": struct.pack(">3I", 0, 0, len(block)),
        "maxp": struct.pack(">I14H", 0x10000, 2, 4, 1, *(0 for _ in range(11))),
        "name": _names({1: family, 6: family.replace(" ", "")}),
    }


def _names(names: dict[int, str]) -> bytes:
    records, texts = [], b""
    for number, text in names.items():
        encoded = text.encode("utf-16-be")
        records.append(struct.pack(">6H", 3, 1, 0x409, number, len(encoded), len(texts)))
        texts += encoded
    return struct.pack(">3H", 0, len(records), 6 + 12 * len(records)) + b"".join(records) + texts
