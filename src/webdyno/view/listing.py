"""The list of results folders, newest first; also the form in which two of them are chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from webdyno.report import words
from webdyno.report.markup import Markup, element, join, prose
from webdyno.view.shelf import Entry
from webdyno.view.shell import Reply, links, page, place

RELOAD_S = 3


def list_page(folder: str, entries: Sequence[Entry], answers: Mapping[str, str], *, paused: bool) -> Reply:
    """The page; ``paused``: answers are not worked out now, because a run is in progress."""
    if not entries:
        empty = element("p", "No results here yet. ", element("code", "webdyno run quickstart"), " makes the first.")
        return page("Results", element("h1", "Results"), element("p", folder, class_="lead"), empty)
    waiting = [each for each in entries if _is_awaited(each, answers)]
    body = [row(each, answers.get(each.name), paused=paused) for each in entries]
    head = element("tr", *[element("th", title, scope="col") for title in ("base", "head", "results", "answer")])
    table = element("table", element("thead", head), element("tbody", *body), class_="shelf")
    button = element("button", "Lay head over base", type="submit") if len(entries) > 1 else None
    form = element("form", element("div", table, class_="card"), button, action="/compare", method="get")
    return page(
        "Results",
        element("h1", words.count(len(entries), "result")),
        element("p", folder, class_="lead"),
        _live(entries),
        form,
        reload_s=RELOAD_S if waiting and not paused else None,
    )


def _live(entries: Sequence[Entry]) -> Markup | None:
    """Where a run is in progress, that looking costs it something."""
    running = [each for each in entries if each.state == "in progress"]
    if not running:
        return None
    where = links(*[(each.name, place(each.name, "live")) for each in running])
    return element("div", "A run is in progress: ", where, element("p", prose(DISTURBS)), class_="note")


DISTURBS = (
    "A browser on the machine that measures takes processor time from it, and reports that are opened now do too. "
    "Close this page until the run is over, or look from another machine (`ssh -L`, with the same port at both ends)."
)


def _is_awaited(entry: Entry, answers: Mapping[str, str]) -> bool:
    return entry.state in ("done", "left off") and entry.name not in answers and entry.done > 0


def row(entry: Entry, answer: str | None, *, paused: bool) -> Markup:
    """One results folder."""
    unreadable = entry.state == "unreadable"
    choices = [
        element(
            "td",
            None
            if unreadable
            else element("input", type="radio", name=side, value=entry.name, aria_label=f"{entry.name} as {side}"),
            class_="choice",
            data_label=None if unreadable else side,
        )
        for side in ("base", "head")
    ]
    if unreadable:
        about = element("td", element("b", entry.name), element("p", prose(entry.problem), class_="bad"), colspan=2)
        return element("tr", *choices, about)
    name = element("a", element("b", entry.title), href=place(entry.name))
    facts = element("small", join(*[element("span", text) for text in _facts(entry)]))
    return element(
        "tr", *choices, element("td", name, facts), element("td", _answer(entry, answer, paused=paused), class_="said")
    )


def _facts(entry: Entry) -> list[str]:
    began = f"{entry.began[:16].replace('T', ' ')} UTC" if entry.began else "not begun"
    machine = entry.machine
    cores = f"{machine.cpu_model}, {words.count(machine.cores, 'core')}, {machine.hostname}" if machine else ""
    of = f"{words.count(entry.done)} of {'at most ' if entry.race else ''}{words.count(entry.planned, 'run')}"
    of = words.count(entry.done, "run") if entry.done == entry.planned else of
    failed = f"{entry.failed} failed" if entry.failed else ""
    left = "left off" if entry.state == "left off" else ""
    return [text for text in (entry.name, began, cores, of, failed, left) if text]


def _answer(entry: Entry, answer: str | None, *, paused: bool) -> Markup:
    if entry.state == "in progress":
        live = element("a", "watch it live", href=place(entry.name, "live"))
        return element("span", element("b", "in progress", class_="going"), ", ", live)
    if answer:
        return element("span", answer)
    if answer is not None or not entry.done:
        return element("span", "Nothing was measured.", class_="soft")
    why = "is not worked out while a run is in progress" if paused else "is being worked out"
    return element("span", f"The answer {why}.", class_="soft")
