"""Answers in the list: worked out one by one, kept until the store changes, and never beside a measurement."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.report.test_html import parsed
from tests.view.serving import made, rounds
from webdyno.store import Store
from webdyno.view.answers import Answers
from webdyno.view.listing import RELOAD_S, Looked, list_page
from webdyno.view.shelf import Entry, Shelf

LONG_S = 60.0


def test_an_answer_is_kept_until_its_store_changes(tmp_path: Path) -> None:
    made(tmp_path / "one", rounds("go"))
    shelf = Shelf(tmp_path)
    answers = Answers(shelf)
    assert answers.ask(shelf.entries(), paused=True) == {}
    known = answers.ask(shelf.entries(), patience_s=LONG_S)
    assert known["one"].startswith("No contender can be recommended: only go served")
    assert answers.ask(shelf.entries(), paused=True) == known
    with Store.open(tmp_path / "one", writable=True) as store:
        store.append(rounds("go")[0])
    assert answers.ask(shelf.entries(), paused=True) == {}
    assert answers.ask(shelf.entries(), patience_s=LONG_S).keys() == {"one"}


def test_a_store_that_cannot_be_read_or_analysed_keeps_nobody_from_his_answer(tmp_path: Path) -> None:
    made(tmp_path / "one", rounds("go"))
    lost = made(tmp_path / "lost", rounds("go", number=2))
    whole = made(tmp_path / "hostile", rounds("go"))
    with Store.open(whole, writable=True) as store:  # a Run of a Trial that is in no plan is passed over
        store.append(rounds("nobody", number=1)[0])
    shelf = Shelf(tmp_path)
    entries = shelf.entries()
    (lost / "results.sqlite").write_bytes(b"x" * 100)
    entries = [replace(entry, seen=shelf.changed(entry.name)) for entry in entries]
    known = Answers(shelf).ask(entries, patience_s=LONG_S)
    assert known["lost"].startswith("cannot be analysed: ")
    assert known["one"].startswith("No contender can be recommended: only go")
    assert known["hostile"]


def test_the_list_loads_itself_again_only_while_answers_are_worked_out() -> None:
    entry = Entry(name="one", state="done", title="One", done=3, planned=3)
    again = f'http-equiv="refresh" content="{RELOAD_S}"'
    waiting = list_page("results", Looked([entry], {}, paused=False)).body.decode()
    assert again in waiting
    assert "The answer is being computed." in waiting
    known = list_page("results", Looked([entry], {"one": "Take go."}, paused=False)).body.decode()
    assert again not in known
    assert "Take go." in "".join(parsed(known).text)
    paused = list_page("results", Looked([entry], {}, paused=True)).body.decode()
    assert again not in paused
    assert "is not computed while a run is in progress" in paused
