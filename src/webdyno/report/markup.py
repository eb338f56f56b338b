"""Markup: HTML and SVG put together so that nothing from outside can become a tag.

Text given to ``element`` is escaped; only what ``element`` itself made (or the page's own constants, marked by
hand) is not. Forgetting to escape is therefore not possible, only forgetting to mark, which shows at once.
"""

from __future__ import annotations

from html import escape

from webdyno.model.outward import clean

_VOID = {"meta", "br", "hr", "img", "link", "rect", "line", "path", "circle", "polyline", "col"}


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(name: str, /, *children: str | None, **attributes: str | float | bool | None) -> Markup:
    """``<name attributes>children</name>``.

    ``class_`` is written ``class``; an underscore inside an attribute is written as a hyphen; None and False leave
    it out.
    """
    parts = [name]
    for key, value in attributes.items():
        if value is not None and value is not False:
            parts.append(_attribute(key.rstrip("_").replace("_", "-"), value))
    inside = join(*children)
    if name in _VOID and not inside:
        return Markup(f"<{' '.join(parts)}/>")
    return Markup(f"<{' '.join(parts)}>{inside}</{name}>")


def prose(text: str) -> Markup:
    """A sentence in which what stands between backticks is code."""
    parts = text.split("`")
    return join(*[element("code", part) if at % 2 else part for at, part in enumerate(parts)])


def _attribute(key: str, value: str | float | bool) -> str:
    text = key if value is True else f"{value:g}" if isinstance(value, float) else str(value)
    return f'{key}="{escape(clean(text), quote=True)}"'


def join(*children: str | None) -> Markup:
    """Children one after the other; text is escaped, markup and None are not shown twice or at all."""
    return Markup("".join(c if isinstance(c, Markup) else escape(clean(c), quote=False) for c in children if c))
