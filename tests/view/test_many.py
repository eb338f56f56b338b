"""Hundreds of results folders: one listing, read only when they changed, filtered, and two of them chosen."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.analyse.fakes import plan
from tests.report.test_html import parsed
from tests.view.serving import made, rounds, serving
from webdyno.store import Store
from webdyno.view import metrics
from webdyno.view.listing import FILTER_FROM, Looked, list_page
from webdyno.view.listing import Asked as Entered
from webdyno.view.metrics import Metrics
from webdyno.view.shelf import Entry, Shelf

MANY = [
    Entry(name=f"nightly-{at:03}", state="done", study="night", title=f"Night {at % 7}", done=3, planned=3)
    for at in range(300)
]


def shown(page: str) -> list[str]:
    """Names of the folders whose rows are not hidden."""
    rows = page.split("<tbody>")[1].split("<tr")[1:]
    return [row.split('value="')[1].split('"')[0] for row in rows if not row.startswith(" hidden")]


def listed(**entered: str) -> str:
    answers = {each.name: "Take go." for each in MANY} | {"nightly-007": "Take node."}
    return list_page("results", Looked(MANY, answers, paused=False), Entered(**entered)).body.decode()


def test_a_long_list_is_filtered_by_all_words_in_whatever_is_shown() -> None:
    assert len(shown(listed())) == 300
    assert shown(listed(q="NIGHTLY-29")) == [f"nightly-29{at}" for at in range(10)]
    assert shown(listed(q="node take")) == ["nightly-007"]
    assert len(shown(listed(q=" night 3 runs "))) == 300
    assert shown(listed(q="<nothing>")) == []
    assert "0 of 300 results shown" in listed(q="<nothing>")
    assert '<script src="/filter.js"' in listed()


def test_what_was_chosen_stays_chosen_though_the_filter_hides_it() -> None:
    page = listed(q="nightly-29", base="nightly-007", head="nightly-291")
    chosen = [row for row in page.split("<tr")[1:] if " checked=" in row]
    hidden = {row.split('value="')[1].split('"')[0]: row.startswith(" hidden") for row in chosen}
    assert hidden == {"nightly-007": True, "nightly-291": False}
    assert 'formaction="/"' in page  # the button of the filter sends the choice along


def test_a_short_list_has_no_filter() -> None:
    short = list_page("results", Looked(MANY[: FILTER_FROM - 1], {}, paused=True)).body.decode()
    assert "search" not in short
    assert "<script" not in short
    assert "Compare head with base" in short


def test_the_filter_is_asked_for_by_the_address(tmp_path: Path) -> None:
    for at in range(FILTER_FROM):
        made(tmp_path / f"one-{at}", rounds())
    with serving(tmp_path) as there:
        page = there.get("/?q=one-3&base=one-1&head=").text
        assert (shown(page), page.count(" checked=")) == (["one-3"], 1)
        assert there.get("/filter.js").status == 200
        assert f"1 of {FILTER_FROM} results shown" in " ".join(parsed(page).text)
        assert there.complaints == []


class Reads(Counter[str]):
    """How often what was read."""

    def watch(self, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
        real = getattr(owner, name)

        def counted(*given: Any, **named: Any) -> Any:
            self[name] += 1
            return real(*given, **named)

        monkeypatch.setattr(owner, name, counted)


def test_the_list_of_many_is_one_listing_and_reads_again_only_what_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for at in range(20):
        made(tmp_path / f"one-{at}", rounds(number=1))
    shelf, reads = Shelf(tmp_path), Reads()
    reads.watch(monkeypatch, os, "scandir")
    reads.watch(monkeypatch, Store, "peek")
    assert len(shelf.entries()) == 20
    assert reads == {"scandir": 1, "peek": 20}
    with Store.open(tmp_path / "one-3", writable=True) as store:
        store.append(rounds(number=1)[0])
    assert len(shelf.entries()) == 20
    assert reads == {"scandir": 2, "peek": 21}


def test_a_scrape_reads_and_makes_again_only_what_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("rest", "grows"):
        made(tmp_path / name, rounds(number=3), plan(rounds(number=4), study=name))
    shelf, reads = Shelf(tmp_path), Reads()
    asked = Metrics(shelf)
    reads.watch(monkeypatch, Shelf, "evidence")
    for each in ("judged_tables", "about_run"):
        reads.watch(monkeypatch, metrics, each)
    first = asked.reply(asked.newest(shelf.entries()))
    assert reads == {"evidence": 2, "judged_tables": 2, "about_run": 6}
    assert asked.reply(asked.newest(shelf.entries())).body == first.body
    assert reads == {"evidence": 2, "judged_tables": 2, "about_run": 6}
    with Store.open(tmp_path / "grows", writable=True) as store:
        store.append(rounds(number=4)[3])
    then = asked.reply(asked.newest(shelf.entries())).body.decode()
    assert reads == {"evidence": 3, "judged_tables": 3, "about_run": 7}
    assert then == Metrics(shelf).reply(asked.newest(shelf.entries())).body.decode()
    assert (
        'study="grows",contender="go",workload="hello",load="64 connections, keep-alive",driver="engine",round="4"'
        in then
    )


def test_a_scrape_of_what_did_not_change_is_the_page_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path / "one", rounds())
    reads = Reads()
    reads.watch(monkeypatch, Metrics, "reply")
    with serving(tmp_path) as there:
        assert there.get("/metrics").text == there.get("/metrics").text
        assert there.get("/results/one/metrics").status == 200
    assert reads == {"reply": 2}


def test_lines_of_more_folders_than_may_be_kept_are_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        made(tmp_path / name, rounds(number=1), plan(rounds(number=1), study=name))
    shelf, reads = Shelf(tmp_path), Reads()
    reads.watch(monkeypatch, Shelf, "evidence")
    scraped = Metrics(shelf, most_lines=1)
    bodies = {scraped.reply(shelf.entries()).body for _ in range(2)}
    assert (len(bodies), reads["evidence"]) == (1, 4)
