"""PNG: a picture that is SVG already, as pixels, drawn by resvg.

resvg is an extra (``webdyno[png]``) and draws text only with fonts that this machine has. It knows no generic
families: ``sans-serif`` is a name to be told. Without a font of that name it takes its serif face in silence, whose
letters have other widths than the picture was laid out for; without that one too it leaves the text out. So each
family is tried with one letter first, and as the serif face as well, so that nothing else can stand in for it.
"""

from __future__ import annotations

import shlex
import sys
from functools import partial
from importlib.metadata import requires

from webdyno.model.errors import MachineError

_FAMILIES = (
    "DejaVu Sans",
    "Liberation Sans",
    "Noto Sans",
    "Arial",
    "Helvetica",
    "Roboto",
    "Open Sans",
    "Ubuntu",
    "Cantarell",
    "Adwaita Sans",
    "FreeSans",
    "Nimbus Sans",
    "Verdana",
    "Segoe UI",
)
"""Fonts without serifs that systems bring, the one that pictures are measured with first."""
_LETTER = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><text x="2" y="16">{}</text></svg>'
_ZOOM = 2.0
"""Pixels for each unit of a picture: screens that show two for one are common by now."""


def png(svg: str) -> bytes:
    """The picture as a PNG; MachineError without resvg, or without a font."""
    try:
        from resvg_py import svg_to_bytes
    except ImportError as error:
        raise MachineError(
            f"a PNG needs {_requirement()}, which is not installed: {shlex.quote(sys.executable)} -m uv pip install "
            f"{_requirement()}; --format svg needs nothing"
        ) from error
    blank = svg_to_bytes(svg_string=_LETTER.format(""))
    for family in _FAMILIES:
        drawn = partial(svg_to_bytes, font_family=family, sans_serif_family=family, serif_family=family)
        if drawn(svg_string=_LETTER.format("M")) != blank:
            return drawn(svg_string=svg, zoom=_ZOOM)
    raise MachineError(
        "a PNG needs a sans-serif font, and none of the known ones is on this machine: install one "
        "(Debian: apt-get install fonts-dejavu-core), or use --format svg, which needs none"
    )


def _requirement() -> str:
    """Name and version as webdyno pins it."""
    return next(line.partition(";")[0].strip() for line in requires("webdyno") or () if line.startswith("resvg"))
