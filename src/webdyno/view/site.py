"""Site: a path becomes an answer. What a browser names is looked up among what is there, never opened as a path."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Hashable, Iterator
from typing import NamedTuple
from urllib.parse import parse_qs, unquote

from webdyno.analyse import analyse
from webdyno.model.errors import UsageError, WebdynoError
from webdyno.report.html import render_html
from webdyno.report.markup import element
from webdyno.view.answers import PATIENCE_S, Answers
from webdyno.view.following import answers_as_they_come
from webdyno.view.kept import Kept
from webdyno.view.listing import Asked, Looked, list_page
from webdyno.view.live import Watch, events, live_page
from webdyno.view.metrics import Metrics
from webdyno.view.overlay import overlay_page
from webdyno.view.shelf import Entry, GoneError, Shelf
from webdyno.view.shell import Reply, files, links, place, sorry

_META = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)"')
_STRICT = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_MOST_FIELDS = 20
_ALSO = ("base-uri", "form-action", "frame-ancestors")


class Later(NamedTuple):
    """A reply that is not there yet. Who asks for the same ``key`` while it is made gets the same."""

    key: Hashable
    make: Callable[[], Reply]
    """As ``Site.answer``: a WebdynoError is a reply too, by ``failed``."""
    is_long: bool = True
    """Whether a processor has work with it for long, and not only the client has to wait."""


class Site:
    """Every page. Its methods return soon; what does not is a ``Later``."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._answers, self._metrics = Answers(shelf), Metrics(shelf)
        self._files, self._kept = files(), Kept()

    def answer(self, path: str, query: str) -> Reply | Later | Iterator[bytes]:
        """The reply to one path (still quoted), or a stream of events. WebdynoError: see ``failed``."""
        if query.count("&") >= _MOST_FIELDS:
            return sorry(400, "Not understood", "The query string has more fields than any page here accepts.")
        if path in self._files:
            return self._files[path]
        fields = parse_qs(query, errors="surrogateescape", max_num_fields=_MOST_FIELDS)
        match [unquote(part, errors="surrogateescape") for part in path.split("/")]:
            case ["", ""]:
                asked = Asked(*[fields.get(field, [""])[0] for field in Asked._fields])
                return Later(("list", asked), lambda: self._list(asked), is_long=False)
            case ["", "events"]:
                return answers_as_they_come(self._look, fields.get("of", [""])[0])
            case ["", "compare"]:
                return self._compare(fields)
            case ["", "metrics"]:
                return self._exposed(None, self._metrics.newest(self._shelf.entries()))
            case ["", "results", name]:
                return self._report(name)
            case ["", "results", name, what]:
                return self._of(name, what)
        return sorry(404, "Not here", "There is no such page.")

    def _of(self, name: str, what: str) -> Reply | Later | Iterator[bytes]:
        self._shelf.folder(name)
        match what:
            case "":
                return self._report(name)
            case "live":
                return Later(("live", name), lambda: live_page(self._shelf, name), is_long=False)
            case "events":
                return events(Watch(self._shelf, name))
            case "metrics":
                return self._exposed(name, [self._shelf.entry(name)])
        return sorry(404, "Not here", "There is no such page.")

    def _list(self, asked: Asked) -> Reply:
        """Who filters has seen the list, and does not wait for answers again."""
        looked, key = self._look(0.0 if asked.q else PATIENCE_S), ("list", asked)
        kept = self._kept.get(key, looked)
        return kept or self._kept.put(key, looked, list_page(str(self._shelf.root), looked, asked))

    def _look(self, patience_s: float = 0.0) -> Looked:
        """At all folders and their answers, which may take so long."""
        entries = self._shelf.entries()
        paused = any(entry.state == "in progress" for entry in entries)
        known = self._answers.ask([each for each in entries if each.is_answered], paused=paused, patience_s=patience_s)
        return Looked(entries, known, paused)

    def _exposed(self, only: str | None, entries: list[Entry]) -> Reply | Later:
        """``only``: of one folder, whose faults are not passed over."""
        now = tuple((entry.name, entry.state, entry.seen) for entry in entries)
        return self._page(("metrics", only), now, lambda: self._metrics.reply(entries, lenient=only is None))

    def _compare(self, fields: dict[str, list[str]]) -> Reply | Later:
        base, head = (fields[side][0] if len(fields.get(side, [])) == 1 else "" for side in ("base", "head"))
        if not base or not head or base == head:
            return sorry(
                400, "Choose two", "Choose one result as base and another as head, in the list of all results."
            )
        cell = fields.get("cell", [""])[0]
        chosen = int(cell) if cell.isascii() and cell.isdigit() and len(cell) < 7 else None
        now = (self._shelf.changed(base), self._shelf.changed(head))
        return self._page(("compare", base, head, chosen), now, lambda: self._overlaid((base, head), chosen))

    def _overlaid(self, names: tuple[str, str], chosen: int | None) -> Reply:
        both = (self._shelf.evidence(names[0]), self._shelf.evidence(names[1]))
        try:
            return overlay_page(names, both, chosen)
        except UsageError as error:
            return sorry(200, "Nothing to compare", f"{error}.")

    def _report(self, name: str) -> Reply | Later:
        return self._page(("report", name), self._shelf.changed(name), lambda: self._rendered(name))

    def _page(self, key: Hashable, now: Hashable, make: Callable[[], Reply]) -> Reply | Later:
        """As it was made the last time, or to be made, when what it shows is not as it was then."""
        return self._kept.get(key, now) or Later((key, now), lambda: self._kept.put(key, now, make()))

    def _rendered(self, name: str) -> Reply:
        """The ordinary report, made now; its own policy is sent along, with what a page's text cannot say."""
        evidence = self._shelf.evidence(name)
        if not evidence.runs:
            return sorry(200, name, "No run is finished yet.")
        told = (evidence.plan, evidence.fingerprint, evidence.runs)
        text = render_html(*told, analyse(*told))
        shown = [("All results", "/"), ("Live", place(name, "live")), ("Metrics", place(name, "metrics"))]
        style = "max-width:1180px;margin:0 auto;padding:10px 20px 0"
        way = element("nav", links(*shown), style=style, aria_label="All results")
        text = re.sub(r"<body[^>]*>", lambda body: body[0] + way, text, count=1)
        own = _META.search(text)
        policy = html.unescape(own[1]).rstrip("; ") if own else _STRICT
        policy += "".join(f"; {each} 'none'" for each in _ALSO if each not in policy)
        return Reply(200, "text/html; charset=utf-8", text.encode("utf-8", "replace"), policy)


def failed(error: WebdynoError) -> Reply:
    """What could not be shown, as a page."""
    if isinstance(error, GoneError):
        return sorry(404, "Not here", f"{error}.")
    return sorry(500, "Cannot be read", f"{error}.")
