"""Cards: the boxes a page is made of. One with too much in it is closed at first, and opens on a click and in print."""

from __future__ import annotations

from webdyno.report import words
from webdyno.report.markup import Markup, element

_MANY = 30
"""Rows beyond which a table is closed at first: it is there to look something up in, not to be read."""


def card(title: str, says: str, *content: Markup | None) -> Markup:
    """A title, a sentence that says how to read what follows, and that."""
    return element("div", element("h3", title), element("p", says, class_="says"), *content, class_="card")


def chart(title: str, says: str, drawn: Markup | None) -> Markup | None:
    """A card of one chart; None without one."""
    return None if drawn is None else card(title, says, element("div", drawn, class_="scroll"))


def folded(title: str, says: str, content: Markup, rows: int) -> Markup:
    """A card of a table, closed at first when it has many rows."""
    if rows <= _MANY:
        return card(title, says, content)
    head = element("summary", element("h3", title), f" {words.count(rows, 'row')}")
    return element("details", head, element("p", says, class_="says"), content, class_="card folded")


def question(title: str, says: str, *content: Markup | None, id_: str | None = None) -> Markup | None:
    """What answers a question, closed at first; ``says`` what lies in it. None without content."""
    if not any(content):
        return None
    # the anchor is inside: a browser opens what a link leads into
    told = element("div", *content, id=id_)
    head = element("summary", element("h2", title), element("span", says))
    return element("details", head, told, class_="question")


def shut(says: str, content: Markup) -> Markup:
    """What is closed at first on a telephone alone, and opens on a tap on what it ``says``.

    A checkbox that the page's style follows, without the script: ``details`` would be closed on wide screens and on
    paper too, in browsers whose style cannot open it.
    """
    opens = element("label", element("input", type="checkbox"), element("span", says), class_="opens")
    return element("div", opens, content, class_="shut")
