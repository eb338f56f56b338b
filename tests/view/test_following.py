"""The list while answers are worked out: each is sent once, when it is there, and nothing where nothing changed."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.view.serving import Writer, answers_held, made, rounds, serving
from webdyno.view import Shelf
from webdyno.view.following import answers_as_they_come
from webdyno.view.listing import Looked, mark
from webdyno.view.shelf import Entry

ONE = Entry(name="one", state="done", title="One", done=3, planned=3)
TWO = Entry(name="two", state="stopped", title="Two", done=1, planned=3)


def stream(looks: Sequence[Looked], of: str) -> list[str]:
    """What is sent while the list looks so, one after the other."""
    seen: Iterator[Looked] = iter(looks)
    return [part.decode() for part in answers_as_they_come(lambda: next(seen), of) if part]


def test_each_answer_is_sent_when_it_comes_and_never_again() -> None:
    both, of = [ONE, TWO], mark([ONE, TWO], paused=False)
    answers: list[dict[str, str]] = [{}, {}, {"two": "Take <go>."}, {"two": "Take <go>.", "one": ""}]
    sent = stream([Looked(both, known, False) for known in answers], of)
    waiting = '<span class="soft">The answer is being computed.</span>'
    assert sent == [
        "retry: 2000\n\n",
        f"event: said\ndata: said-0\ndata: {waiting}\n\n",
        f"event: said\ndata: said-1\ndata: {waiting}\n\n",
        "event: said\ndata: said-1\ndata: <span>Take &lt;go&gt;.</span>\n\n",
        'event: said\ndata: said-0\ndata: <span class="soft">Nothing was measured.</span>\n\n',
        "event: over\ndata: <span>All answers are complete.</span>\n\n",
    ]


@pytest.mark.parametrize(
    ("entries", "paused"),
    [
        ([ONE], False),
        ([TWO, ONE], False),
        ([ONE, Entry(name="two", state="in progress", title="Two", done=1, planned=3)], True),
        ([ONE, TWO], True),
    ],
)
def test_a_list_that_is_another_one_is_loaded_anew(entries: list[Entry], paused: bool) -> None:
    sent = stream([Looked(entries, {}, paused)], mark([ONE, TWO], paused=False))
    assert sent == ["retry: 2000\n\n", "event: changed\ndata: The list has changed.\n\n"]


def test_where_nothing_is_new_it_says_that_it_is_to_look_again_later() -> None:
    sent = answers_as_they_come(lambda: Looked([ONE], {}, False), mark([ONE], paused=False))
    assert [part.partition(b"\n")[0] for _, part in zip(range(5), sent, strict=False)] == [
        b"retry: 2000",
        b"event: said",
        b"",
        b"",
        b"",
    ]


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    with answers_held(monkeypatch) as free:
        yield free


def address(page: str) -> str:
    """Where a page's events come from."""
    return page.split('data-events="')[1].split('"')[0]


def test_a_page_that_waits_is_sent_what_it_waits_for(held: threading.Event, tmp_path: Path) -> None:
    made(tmp_path / "one", rounds())
    with serving(tmp_path) as there:
        page = there.get("/").text
        assert '<noscript><meta http-equiv="refresh" content="3"/></noscript>' in page
        assert "being computed" in page
        with there.events(address(page)) as events:
            assert next(events)[1].endswith('<span class="soft">The answer is being computed.</span>')
            held.set()
            kind, data = next(events)
            assert (kind, data.split("\n")[0], "without a rival." in data) == ("said", "said-0", True)
            assert [kind for kind, _ in events] == ["over"]
        later = there.get("/").text
        assert "data-events" not in later
        assert "refresh" not in later
        assert there.complaints == []


def test_a_run_that_begins_is_news_for_the_list(held: threading.Event, tmp_path: Path) -> None:
    made(tmp_path / "one", rounds())
    with serving(tmp_path) as there, there.events(address(there.get("/").text)) as events:
        assert next(events)[0] == "said"
        with Writer(tmp_path / "live-1"):
            assert next(events)[0] == "changed"
            assert list(events) == []
            listed = there.get("/").text
            assert "in progress" in listed
            assert "data-events" not in listed  # nothing is worked out now, and a browser shall not ask for it


def test_another_list_than_the_one_asked_for_is_said_at_once(tmp_path: Path) -> None:
    made(tmp_path / "one", rounds())
    with serving(tmp_path) as there:
        for path in ("/events", "/events?of=", "/events?of=%ff&of=2"):
            with there.events(path) as events:
                assert [kind for kind, _ in events] == ["changed"]
        assert there.complaints == []


def test_the_mark_stands_for_all_that_is_shown_but_the_answers(tmp_path: Path) -> None:
    made(tmp_path / "one", rounds())
    entry = Shelf(tmp_path).entry("one")
    assert mark([entry], paused=False) == mark([Shelf(tmp_path).entry("one")], paused=False)
    assert mark([entry], paused=False) != mark([entry], paused=True)
