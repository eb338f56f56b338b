"""Lettering: how wide a text is, before anybody draws it, so that it can be cut, wrapped, and kept clear of others.

Who looks at a picture has other fonts than who made it. Widths are those of DejaVu Sans, which is wider than what
Linux, macOS, Windows and Android show as ``system-ui`` or ``sans-serif`` (Verdana alone is as wide): what fits by them
fits. A letter outside ASCII counts as the widest Cyrillic one, a wide one (East Asian width W or F, most emoji) as a
quarter more than the square it stands in.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from webdyno.model.outward import clean

ELLIPSIS = "…"
# advance widths from space to tilde in thousandths of the font's size: the tables cmap and hmtx of DejaVu Sans 2.37
_BOOK = (
    *(318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636),
    *(636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656),
    *(557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613),
    *(635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818),
    *(592, 592, 525, 636, 337, 636, 838),
)
_BOLD = (
    *(348, 456, 521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415, 380, 365, 696, 696, 696, 696, 696, 696),
    *(696, 696, 696, 696, 400, 400, 838, 838, 838, 580, 1000, 774, 762, 734, 830, 683, 683, 821, 837, 372, 372, 775),
    *(637, 995, 837, 850, 733, 850, 770, 720, 682, 812, 774, 1103, 771, 724, 725, 457, 365, 457, 838, 500, 500, 675),
    *(716, 593, 716, 678, 435, 716, 712, 343, 343, 665, 343, 1042, 712, 687, 716, 716, 493, 595, 478, 712, 652, 924),
    *(645, 652, 582, 712, 365, 712, 838),
)
_OTHER, _WIDE = 1330, 1250
_LONGEST = 200
"""Letters at either end of a text of which any can be in one line."""


def line(text: str) -> str:
    """Text from outside as one line: without control characters, one blank where there were several."""
    return " ".join(clean(text).split())


def width(text: str, size: float, *, bold: bool = False) -> float:
    """How wide ``text`` is at most, in the units of ``size``."""
    table = _BOLD if bold else _BOOK
    return sum(_letter(letter, table) for letter in text) * size / 1000


def _letter(letter: str, table: Sequence[int]) -> int:
    at = ord(letter) - 32
    if 0 <= at < len(table):
        return table[at]
    if unicodedata.combining(letter):
        return 0
    return _WIDE if unicodedata.east_asian_width(letter) in "WF" else _OTHER


def cut(text: str, size: float, most: float, *, bold: bool = False) -> str:
    """``text``, or its beginning and its end around an ellipsis: names often differ only in one of the two."""
    if width(text, size, bold=bold) <= most:
        return text
    text = text if len(text) <= 2 * _LONGEST else text[:_LONGEST] + text[-_LONGEST:]
    for kept in range(len(text) - 1, 1, -1):
        shown = text[: kept - kept // 2] + ELLIPSIS + text[len(text) - kept // 2 :]
        if width(shown, size, bold=bold) <= most:
            return shown
    return ELLIPSIS


def wrap(text: str, size: float, most: float, lines: int, *, bold: bool = False) -> list[str]:
    """``text`` in up to this many ``lines``; what does not fit into the last gives way to an ellipsis."""
    wrapped: list[str] = []
    left = text.split(" ")
    while left and len(wrapped) < lines:
        taken = _fitting(left, size, most, bold)
        if taken == 0:  # a single word wider than the line
            head = _beginning(left[0], size, most, bold)
            wrapped.append(left[0][:head])
            left[0] = left[0][head:]
        else:
            wrapped.append(" ".join(left[:taken]))
            left = left[taken:]
    if left and wrapped:
        last = wrapped[-1]
        while last and width(last + ELLIPSIS, size, bold=bold) > most:
            last = last[:-1]
        wrapped[-1] = last.rstrip(" ,;:") + ELLIPSIS
    return wrapped


def _fitting(parts: Sequence[str], size: float, most: float, bold: bool) -> int:
    """How many of the words fit into a line."""
    blank, used = width(" ", size, bold=bold), 0.0
    for at, word in enumerate(parts):
        used += width(word, size, bold=bold) + (blank if at else 0.0)
        if used > most:
            return at
    return len(parts)


def _beginning(word: str, size: float, most: float, bold: bool) -> int:
    """How many letters of a long word fit, one at least."""
    used = 0.0
    for at, letter in enumerate(word):
        used += width(letter, size, bold=bold)
        if used > most:
            return max(at, 1)
    return len(word)
