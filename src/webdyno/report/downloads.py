"""Downloads: the figures of a page as CSV and JSON, inside the page itself, for it has nothing beside it.

Links with ``data:`` addresses work without the script and without a network. Beyond a size the file is compressed, and
beyond another the page names the command that writes it instead, or the page of a large study would be mostly that.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping

from webdyno.report.markup import Markup, element, join

_LARGE_BYTES = 60_000
_MOST_COMPRESSED_BYTES = 100_000
_KINDS = {"csv": "text/csv;charset=utf-8", "json": "application/json"}


def downloads(name: str, files: Mapping[str, str]) -> Markup:
    """A link for each file, by its ending. ``name`` is what they are called."""
    links = [_link(name, *each) for each in files.items()]
    return element("p", "Download: ", *[join(link, Markup(" ")) for link in links], class_="downloads")


def _link(name: str, ending: str, text: str) -> Markup:
    kind, title, content = _KINDS[ending], ending.upper(), text.encode()
    if len(content) > _LARGE_BYTES:
        # no time of making within: the same figures make the same page
        content, kind = gzip.compress(content, mtime=0), "application/gzip"
        if len(content) > _MOST_COMPRESSED_BYTES:
            return element("span", f"{title} by ", element("code", f"webdyno report FOLDER --format {ending}"))
        ending, title = f"{ending}.gz", f"{title} (gzip)"
    told = base64.b64encode(content).decode()
    return element("a", title, href=f"data:{kind};base64,{told}", download=f"{_safe(name)}.{ending}")


def _safe(name: str) -> str:
    """A name that is one file's name everywhere."""
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name)[:60] or "webdyno"
