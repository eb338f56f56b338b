"""The list of results folders, newest first; also the form in which two of them are chosen.

While answers are being worked out, its page takes each as it comes (``following``) and leaves all else as it stands,
what was chosen in the form included.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from webdyno.report import words
from webdyno.report.markup import Markup, element, join, prose
from webdyno.view.shelf import Entry
from webdyno.view.shell import FILTER, Reply, links, page, place, query

FILTER_FROM = 10
"""Fewer results are seen at a glance."""
RELOAD_S = 3
"""Of the page without a script."""
EVENTS = "/events"
_OPEN = "Answers appear as they are computed."


class Looked(NamedTuple):
    """The list as it is now."""

    entries: Sequence[Entry]
    answers: Mapping[str, str]
    """Those that are known, by name."""
    paused: bool
    """None is worked out now, because a run is in progress."""


class Asked(NamedTuple):
    """What was entered in the list: words to filter it by, and the folders chosen to be compared."""

    q: str = ""
    base: str = ""
    head: str = ""


NOTHING = Asked()


def list_page(folder: str, looked: Looked, asked: Asked = NOTHING) -> Reply:
    """The page. What does not match is there too, hidden: what is chosen in it stays so, and its answers come too."""
    entries, answers, paused = looked
    if not entries:
        empty = element("p", "No results here yet. ", element("code", "webdyno run quickstart"), " makes the first.")
        return page("Results", element("h1", "Results"), element("p", folder, class_="lead"), empty)
    follows = is_waiting(entries, answers, paused=paused)
    shown = [_matches(asked.q, each, answers.get(each.name, "")) for each in entries]
    body = [
        row(at, each, answers.get(each.name), paused=paused, asked=asked, hidden=not shown[at])
        for at, each in enumerate(entries)
    ]
    head = element("tr", *[element("th", title, scope="col") for title in ("base", "head", "results", "answer")])
    table = element("table", element("thead", head), element("tbody", *body), class_="shelf")
    filters = len(entries) >= FILTER_FROM
    parts = [
        _filter(asked.q, sum(shown), len(entries)) if filters else None,
        element("div", table, class_="card"),
        _compare(long=filters) if len(entries) > 1 else None,
    ]
    return page(
        "Results",
        element("h1", words.count(len(entries), "result")),
        element("p", folder, class_="lead"),
        _live(entries),
        element("div", id="link", role="status", class_="soft", data_open=_OPEN) if follows else None,
        element("form", *parts, action="/compare", method="get"),
        script=query(EVENTS, of=mark(entries, paused=paused)) if follows else None,
        reload_s=RELOAD_S if follows else None,
        also=FILTER if filters else None,
    )


def _filter(q: str, shown: int, of: int) -> Markup:
    """Of the same form as the choice of two, so that without a script too it takes along what is chosen."""
    said = f"{shown} of {words.count(of, 'result')} shown"
    return element(
        "p",
        element("label", "Filter ", element("input", type="search", name="q", id="q", value=q, autocomplete="off")),
        element("button", "Filter", type="submit", formaction="/"),
        element("span", said, id="shown", role="status", class_="soft"),
        class_="filter",
    )


def _compare(*, long: bool) -> Markup:
    button = element("button", "Compare head with base", type="submit")
    chosen = element("span", id="chosen", class_="soft") if long else None
    return element("div", button, chosen, class_="compare long" if long else "compare")


def _matches(q: str, entry: Entry, answer: str) -> bool:
    """Whether every word of ``q`` stands somewhere in its row; shelf.js asks the same."""
    text = " ".join([entry.title, *_facts(entry), entry.study, entry.problem, answer]).lower()
    return all(word in text for word in q.lower().split())


def _live(entries: Sequence[Entry]) -> Markup | None:
    """Where a run is in progress, that looking costs it something."""
    running = [each for each in entries if each.state == "in progress"]
    if not running:
        return None
    where = links(*[(each.name, place(each.name, "live")) for each in running])
    return element("div", "A run is in progress: ", where, element("p", prose(DISTURBS)), class_="note")


DISTURBS = (
    "A browser on the measuring machine takes processor time from the run, and so do reports that are opened now. "
    "Close this page until the run is over, or look from another machine (`ssh -L`, with the same port at both ends)."
)


def is_waiting(entries: Sequence[Entry], answers: Mapping[str, str], *, paused: bool) -> bool:
    """Whether answers are still being worked out."""
    return not paused and any(_is_awaited(each, answers) for each in entries)


def mark(entries: Sequence[Entry], *, paused: bool) -> str:
    """Another one as soon as anything but an answer would be shown differently."""
    shown = join(*[row(at, each, None, paused=paused) for at, each in enumerate(entries)])
    return hashlib.sha256(shown.encode("utf-8", "replace")).hexdigest()[:16]


def _is_awaited(entry: Entry, answers: Mapping[str, str]) -> bool:
    return entry.is_answered and entry.name not in answers


def row(
    at: int, entry: Entry, answer: str | None, *, paused: bool, asked: Asked = NOTHING, hidden: bool = False
) -> Markup:
    """One results folder, the one at this place of the list."""
    unreadable = entry.state == "unreadable"
    choices = [
        element(
            "td",
            None
            if unreadable
            else element(
                "input",
                type="radio",
                name=side,
                value=entry.name,
                aria_label=f"{entry.name} as {side}",
                checked=chosen == entry.name,
            ),
            class_="choice",
            data_label=None if unreadable else side,
        )
        for side, chosen in (("base", asked.base), ("head", asked.head))
    ]
    if unreadable:
        about = element("td", element("b", entry.name), element("p", prose(entry.problem), class_="bad"), colspan=2)
        return element("tr", *choices, about, hidden=hidden)
    name = element("a", element("b", entry.title), href=place(entry.name))
    facts = element("small", join(*[element("span", text) for text in _facts(entry)]))
    told = element("td", said(entry, answer, paused=paused), class_="said", id=f"said-{at}")
    return element("tr", *choices, element("td", name, facts), told, hidden=hidden, data_study=entry.study)


def _facts(entry: Entry) -> list[str]:
    began = f"{entry.began[:16].replace('T', ' ')} UTC" if entry.began else "not begun"
    machine = entry.machine
    cores = f"{machine.cpu_model}, {words.count(machine.cores, 'core')}, {machine.hostname}" if machine else ""
    of = f"{words.count(entry.done)} of {'at most ' if entry.race else ''}{words.count(entry.planned, 'run')}"
    of = words.count(entry.done, "run") if entry.done == entry.planned else of
    raced = words.count(entry.rounds, "round") if entry.race and entry.done else ""
    failed = f"{entry.failed} failed" if entry.failed else ""
    stopped = "stopped" if entry.state == "stopped" else ""
    return [text for text in (entry.name, began, cores, of, raced, failed, stopped) if text]


def said(entry: Entry, answer: str | None, *, paused: bool) -> Markup:
    """Its answer, or what is shown instead of it."""
    if entry.state == "in progress":
        live = element("a", "watch it live", href=place(entry.name, "live"))
        return element("span", element("b", "in progress", class_="going"), ", ", live)
    if answer:
        return element("span", answer)
    if answer is not None or not entry.done:
        return element("span", "Nothing was measured.", class_="soft")
    why = "is not computed while a run is in progress" if paused else "is being computed"
    return element("span", f"The answer {why}.", class_="soft")
