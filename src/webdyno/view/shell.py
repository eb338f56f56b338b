"""Shell: what every page has around it. Style and script are files of their own, so that the policy allows no other."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlencode

from webdyno import __version__
from webdyno.report.markup import Markup, element, join

_REPORT_STYLE = Path(__file__).parent.parent / "report" / "page.css"
_STYLE = Path(__file__).with_name("view.css")
STYLE, SCRIPT, FILTER = "/view.css", "/live.js", "/filter.js"
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)


class Reply(NamedTuple):
    """What is answered to one request."""

    status: int
    kind: str
    """Media type with its charset."""
    body: bytes
    policy: str = POLICY


def files() -> dict[str, Reply]:
    """The files that pages refer to, by path; the look is the report's."""
    style = _REPORT_STYLE.read_bytes() + _STYLE.read_bytes()
    return {
        STYLE: Reply(200, "text/css; charset=utf-8", style),
        **{path: Reply(200, "text/javascript; charset=utf-8", _beside(path)) for path in (SCRIPT, FILTER)},
    }


def _beside(path: str) -> bytes:
    return Path(__file__).with_name(path.removeprefix("/")).read_bytes()


def page(
    title: str,
    *content: Markup | None,
    status: int = 200,
    reload_s: int | None = None,
    script: str | None = None,
    also: str | None = None,
) -> Reply:
    """One page as HTML.

    ``reload_s``: it loads itself again after this many seconds, where no ``script`` keeps it up to date; ``script`` is
    the path its events come from. ``also``: a script besides.
    """
    reload = element("meta", http_equiv="refresh", content=reload_s) if reload_s is not None else None
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("noscript", reload) if reload and script else reload,
        element("title", f"{title} · webdyno"),
        element("link", rel="stylesheet", href=STYLE),
        element("link", rel="icon", href="data:,"),
        *[element("script", src=src, defer=True) for src in (SCRIPT if script else None, also) if src],
    )
    header = element(
        "header",
        element("strong", "webdyno"),
        element("span", title),
        element("nav", element("a", "All results", href="/"), Markup(" "), element("a", "Metrics", href="/metrics")),
    )
    footer = element("footer", f"webdyno {__version__}, for this machine alone. It only reads, and changes nothing.")
    body = element("body", element("div", header, element("main", *content, data_events=script), footer, class_="page"))
    text = f"<!doctype html>\n{element('html', head, body, lang='en')}\n"
    return Reply(status, "text/html; charset=utf-8", text.encode("utf-8", "replace"))


def sorry(status: int, title: str, sentence: str) -> Reply:
    """A page with one sentence."""
    return page(title, element("h1", title), element("p", sentence, class_="lead"), status=status)


def place(name: str, what: str = "") -> str:
    """Path of a results folder's page."""
    return f"/results/{quote(name, safe='', errors='surrogateescape')}/{what}"


def query(path: str, **fields: str) -> str:
    """Path with a query."""
    return f"{path}?{urlencode(fields, errors='surrogateescape')}"


def links(*each: tuple[str, str]) -> Markup:
    """Text and path of several links, in a row."""
    return join(*[join(element("a", text, href=path), Markup(" ")) for text, path in each])
