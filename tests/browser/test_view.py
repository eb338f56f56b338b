"""The pages of ``webdyno view`` in a browser: for everyone, and the list that takes its answers as they come."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.analyse.fakes import run, study
from tests.browser.axe import faults, in_dark
from tests.browser.conftest import SLOW_MS, Visit
from tests.view.serving import Asked, Writer, answers_held, made, rounds, serving
from webdyno.store import FILE

WIDTH = "document.documentElement.scrollWidth"
OVERLAY = "/compare?base=quickstart-1&head=quickstart-2"


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    """Two studies of many contenders, one that failed, one that cannot be read, and a run in progress."""
    root = tmp_path_factory.mktemp("results")
    whole, _, runs = study()
    made(root / "quickstart-1", runs, whole)
    made(root / "quickstart-2", runs, whole)
    made(root / "failed", [run("go", outcome="died", message="it died", slices=[])])
    (made(root / "damaged", rounds()) / FILE).write_bytes(b"x" * 100)
    with Writer(root / "live-1") as writer, serving(root) as there:
        writer.tell("append 0")
        writer.tell("append 1")
        writer.tell("now 2")
        yield there


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    with answers_held(monkeypatch) as free:
        yield free


@pytest.fixture
def waiting(held: threading.Event, tmp_path: Path) -> Iterator[Asked]:
    """Two results whose answers nobody knows yet; ended after the pages that wait for them."""
    made(tmp_path / "one", rounds())
    made(tmp_path / "two", rounds("node"))
    with serving(tmp_path) as there:
        yield there


def followed(page: Page) -> list[str]:
    """Once the list is kept up to date: the addresses that its page is loaded from after that."""
    expect(page.get_by_role("status")).to_have_text("Answers appear as they are computed.")
    loads: list[str] = []
    page.on("framenavigated", lambda frame: loads.append(frame.url))
    return loads


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/", "in progress"),
        ("/results/live-1/live", "Live: this page follows the run."),
        (OVERLAY, "What changed from base to head"),
    ],
)
def test_axe_finds_nothing_serious_in_light_and_dark(asked: Asked, visit: Visit, path: str, said: str) -> None:
    page = visit(asked, path, color_scheme="light")
    expect(page.locator("main")).to_contain_text(said)
    assert faults(page) == []
    page.set_viewport_size({"width": 380, "height": 900})
    assert page.evaluate(WIDTH) <= 380
    assert faults(page) == []
    assert in_dark(page) == []
    page.set_viewport_size({"width": 1240, "height": 900})
    assert faults(page, colours_only=True) == []


def test_axe_finds_nothing_serious_in_a_list_that_waits_for_answers(waiting: Asked, visit: Visit) -> None:
    page = visit(waiting, "/")
    followed(page)
    assert faults(page) == []


def test_answers_come_into_their_places_and_leave_the_rest_alone(
    waiting: Asked, held: threading.Event, visit: Visit
) -> None:
    page = visit(waiting, "/")
    loads = followed(page)
    shelf, choice = page.locator(".shelf"), page.get_by_label("two as head")
    choice.check()
    expect(shelf).to_contain_text("being computed")
    held.set()
    expect(page.get_by_role("status")).to_have_text("All answers are complete.", timeout=SLOW_MS)
    for said in ("only go served, without a rival.", "only node served, without a rival."):
        expect(shelf).to_contain_text(said)
    expect(shelf).not_to_contain_text("being computed")
    expect(choice).to_be_checked()
    assert loads == []


def test_a_run_that_begins_loads_the_list_anew(waiting: Asked, visit: Visit, tmp_path: Path) -> None:
    page = visit(waiting, "/")
    loads = followed(page)
    with Writer(tmp_path / "live-1"):
        expect(page.locator(".note")).to_contain_text("A run is in progress", timeout=SLOW_MS)
    assert set(loads) == {waiting.server.url}


def test_without_a_script_the_list_loads_itself_until_its_answers_are_there(
    waiting: Asked, held: threading.Event, visit: Visit
) -> None:
    page = visit(waiting, "/", java_script_enabled=False)
    expect(page.locator(".shelf")).to_contain_text("being computed")
    held.set()
    expect(page.locator(".shelf")).to_contain_text("only node served, without a rival.", timeout=SLOW_MS)
    expect(page.locator("meta[http-equiv=refresh]")).to_have_count(0, timeout=SLOW_MS)


def test_an_update_leaves_its_reader_in_place(visit: Visit, tmp_path: Path) -> None:
    with Writer(tmp_path / "live-1") as writer, serving(tmp_path) as there:
        writer.tell("append 0")
        writer.tell("now 1")
        page = visit(there, "/results/live-1/live")
        chart = page.get_by_role("region", name="The trial in flight")
        chart.focus()
        writer.tell("now 2")
        expect(page.locator("#now")).to_contain_text("round 2", timeout=SLOW_MS)
        expect(chart).to_be_focused()


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    """Three hundred results: copies of one, each of its own name."""
    root = tmp_path_factory.mktemp("many")
    file = made(root / "nightly-000", rounds()) / FILE
    for at in range(1, 300):
        (root / f"nightly-{at:03}").mkdir()
        shutil.copyfile(file, root / f"nightly-{at:03}" / FILE)
    with serving(root) as there:
        yield there


def names(page: Page) -> list[str]:
    """Of the results that are to be seen."""
    return page.locator(".shelf tbody tr:visible small span:first-child").all_inner_texts()


@pytest.mark.parametrize("width", [1280, 380])
def test_two_of_hundreds_are_found_and_compared(many: Asked, visit: Visit, width: int) -> None:
    page = visit(many, "/", width=width)
    box, shown, chosen = page.get_by_label("Filter"), page.locator("#shown"), page.locator("#chosen")
    box.fill("nightly-12")
    expect(shown).to_have_text("10 of 300 results shown")
    page.get_by_label("nightly-123 as base").check()
    box.fill("Nightly-27 made-up")
    box.press("Enter")
    assert names(page) == [f"nightly-27{at}" for at in range(9, -1, -1)]
    page.get_by_label("nightly-271 as head").check()
    expect(chosen).to_have_text("base: nightly-123, head: nightly-271")
    box.fill("")
    expect(shown).to_have_text("300 of 300 results shown")
    assert page.evaluate(WIDTH) <= width
    expect(page.get_by_role("button", name="Compare head with base")).to_be_in_viewport()
    page.get_by_role("button", name="Compare head with base").click()
    expect(page.locator("main")).to_contain_text("What changed from base to head")


def test_the_filter_works_without_a_script(many: Asked, visit: Visit) -> None:
    page = visit(many, "/", java_script_enabled=False)
    page.get_by_label("nightly-123 as base").check()
    page.get_by_label("Filter").fill("nightly-27")
    page.get_by_role("button", name="Filter").click()
    assert len(names(page)) == 10
    page.get_by_label("nightly-271 as head").check()
    page.get_by_role("button", name="Compare head with base").click()
    expect(page.locator("main")).to_contain_text("What changed from base to head")


def test_axe_finds_nothing_serious_in_a_long_list(many: Asked, visit: Visit) -> None:
    page = visit(many, "/?q=nightly-27")
    assert faults(page) == []
    page.set_viewport_size({"width": 380, "height": 900})
    assert page.evaluate(WIDTH) <= 380
    assert faults(page) == []
    assert in_dark(page) == []
