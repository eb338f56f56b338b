"""Site: a path becomes an answer. What a browser names is looked up among what is there, never opened as a path."""

from __future__ import annotations

import html
import re
import threading
from collections.abc import Iterator
from urllib.parse import parse_qs, unquote

from webdyno.analyse import analyse
from webdyno.model.errors import UsageError, WebdynoError
from webdyno.report.html import render_html
from webdyno.report.markup import element
from webdyno.view.answers import PATIENCE_S, Answers
from webdyno.view.following import Looked, answers_as_they_come
from webdyno.view.listing import list_page
from webdyno.view.live import POLL_S, Watch, events, live_page
from webdyno.view.metrics import Metrics
from webdyno.view.overlay import overlay_page
from webdyno.view.shelf import GoneError, Shelf
from webdyno.view.shell import Reply, files, links, place, sorry

_META = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)"')
_STRICT = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_MOST_FIELDS = 20
_ALSO = ("base-uri", "form-action", "frame-ancestors")


class Site:
    """Every page. ``ending`` ends the streams; ``poll_s`` is how often they look."""

    def __init__(self, shelf: Shelf, ending: threading.Event, poll_s: float = POLL_S) -> None:
        self._shelf, self._ending, self._poll_s = shelf, ending, poll_s
        self._answers, self._metrics = Answers(shelf), Metrics(shelf)
        self._files = files()
        self._rendering = threading.Lock()

    def answer(self, path: str, query: str) -> Reply | Iterator[bytes]:
        """The reply to one path (still quoted), or a stream of events."""
        try:
            return self._answer(path, query)
        except GoneError as error:
            return sorry(404, "Not here", f"{error}.")
        except WebdynoError as error:
            return sorry(500, "Cannot be read", f"{error}.")

    def _answer(self, path: str, query: str) -> Reply | Iterator[bytes]:
        if query.count("&") >= _MOST_FIELDS:
            return sorry(400, "Not understood", "There is more behind the question mark than any page here asks for.")
        if path in self._files:
            return self._files[path]
        match [unquote(part, errors="surrogateescape") for part in path.split("/")]:
            case ["", ""]:
                return self._list()
            case ["", "events"]:
                of = parse_qs(query, errors="surrogateescape", max_num_fields=_MOST_FIELDS).get("of", [""])[0]
                return answers_as_they_come(self._look, of, self._ending.wait, self._poll_s)
            case ["", "compare"]:
                return self._compare(parse_qs(query, errors="surrogateescape", max_num_fields=_MOST_FIELDS))
            case ["", "metrics"]:
                return self._metrics.reply(self._metrics.newest(self._shelf.entries()), lenient=True)
            case ["", "results", name]:
                return self._report(name)
            case ["", "results", name, what]:
                return self._of(name, what)
        return sorry(404, "Not here", "There is no such page.")

    def _of(self, name: str, what: str) -> Reply | Iterator[bytes]:
        self._shelf.folder(name)
        match what:
            case "":
                return self._report(name)
            case "live":
                return live_page(self._shelf, name)
            case "events":
                return events(Watch(self._shelf, name), self._ending.wait, self._poll_s)
            case "metrics":
                return self._metrics.reply([self._shelf.entry(name)])
        return sorry(404, "Not here", "There is no such page.")

    def _list(self) -> Reply:
        entries, answers, paused = self._look(PATIENCE_S)
        return list_page(str(self._shelf.root), entries, answers, paused=paused)

    def _look(self, patience_s: float = 0.0) -> Looked:
        """At all folders and their answers, which may take so long."""
        entries = self._shelf.entries()
        paused = any(entry.state == "in progress" for entry in entries)
        names = [entry.name for entry in entries if entry.state in ("done", "left off") and entry.done]
        return Looked(entries, self._answers.ask(names, paused=paused, patience_s=patience_s), paused)

    def _compare(self, fields: dict[str, list[str]]) -> Reply:
        names = tuple(fields[side][0] if len(fields.get(side, [])) == 1 else "" for side in ("base", "head"))
        if not all(names) or names[0] == names[1]:
            return sorry(
                400, "Choose two", "Choose one result as base and another as head, in the list of all results."
            )
        cell = fields.get("cell", [""])[0]
        chosen = int(cell) if cell.isascii() and cell.isdigit() and len(cell) < 7 else None
        base, head = names
        with self._rendering:
            both = (self._shelf.evidence(base), self._shelf.evidence(head))
            try:
                return overlay_page((base, head), both, chosen)
            except UsageError as error:
                return sorry(200, "Nothing to compare", f"{error}.")

    def _report(self, name: str) -> Reply:
        """The ordinary report, made now; its own policy is sent along, with what a page's text cannot say."""
        self._shelf.folder(name)
        with self._rendering:
            text = self._shelf.made(("report", name), name, lambda: self._rendered(name))
        if not text:
            return sorry(200, name, "No run is finished yet.")
        own = _META.search(text)
        policy = html.unescape(own[1]).rstrip("; ") if own else _STRICT
        policy += "".join(f"; {each} 'none'" for each in _ALSO if each not in policy)
        return Reply(
            200,
            "text/html; charset=utf-8",
            text.encode("utf-8", "replace"),
            policy,
        )

    def _rendered(self, name: str) -> str:
        evidence = self._shelf.evidence(name)
        if not evidence.runs:
            return ""
        told = (evidence.plan, evidence.fingerprint, evidence.runs)
        text = render_html(*told, analyse(*told))
        shown = [("All results", "/"), ("Live", place(name, "live")), ("Metrics", place(name, "metrics"))]
        style = "max-width:1180px;margin:0 auto;padding:10px 20px 0"
        way = element("nav", links(*shown), style=style, aria_label="All results")
        return re.sub(r"<body[^>]*>", lambda body: body[0] + way, text, count=1)
