"""Every figure explains itself: by mouse, by keyboard and by touch; Escape closes."""

from __future__ import annotations

import contextlib
import re

from playwright.sync_api import Error, Locator, Page, expect

from tests.browser.conftest import Show, unfold
from tests.browser.pages import faceted, of_a_study, quickstart

TRIES = 5
FIRST = ".ranking >> nth=0 >> tbody tr >> nth=0 >> "


def cell(page: Page, label: str) -> str:
    return f'{FIRST}td[data-label="{label}"]'


def point_at(page: Page, target: Locator) -> Locator:
    """Its explanation. On a busy machine the page may still be laid out under the pointer; a hand would point again."""
    tip = page.get_by_role("tooltip")
    for _ in range(TRIES):
        page.mouse.move(0, 0)
        target.hover()
        with contextlib.suppress(Error):
            tip.wait_for(state="visible", timeout=1500)
            break
    return tip


def focused(page: Page) -> str:
    return page.evaluate("document.activeElement.textContent")


def test_a_figure_explains_itself_to_the_mouse(show: Show) -> None:
    page = show(quickstart())
    tip = page.get_by_role("tooltip")
    expect(tip).to_be_hidden()
    point_at(page, page.locator(cell(page, "p99")))
    expect(tip).to_be_visible()
    text = tip.inner_text()
    for said in (
        "p99 of go-nethttp: ",
        " ms",
        "95 % interval ",
        " to ",
        "over 3 rounds",
        "99 of 100 answers",
        "Student",
    ):
        assert said in text
    page.locator("h1").hover()
    expect(tip).to_be_hidden()


def test_the_explanation_stays_while_the_pointer_is_on_it(show: Show) -> None:
    page = show(quickstart())
    tip = point_at(page, page.locator(cell(page, "p50")))
    expect(tip).to_be_visible()
    tip.hover()
    page.wait_for_timeout(600)
    expect(tip).to_be_visible()


def test_arrows_move_between_figures_and_each_explains_itself(show: Show) -> None:
    page = show(quickstart())
    tip = page.get_by_role("tooltip")
    page.locator(".ranking th button").first.focus()
    assert focused(page) == "#"
    expect(tip).to_contain_text("Place by requests/s")
    page.keyboard.press("ArrowDown")
    expect(tip).to_contain_text("place of go-nethttp: 1")
    for wanted in ("go-nethttp\n", "requests/s of go-nethttp", "vs best of go-nethttp"):
        page.keyboard.press("ArrowRight")
        assert tip.inner_text().startswith(wanted)
    page.keyboard.press("ArrowDown")
    expect(tip).to_contain_text(re.compile(r"vs best of node-http: 0\.7\d× \(0\.7\d–0\.7\d\)95 % interval 0\.7"))
    page.keyboard.press("Control+End")
    assert page.evaluate("document.activeElement.closest('tr').rowIndex") == 14
    page.keyboard.press("Control+Home")
    assert focused(page) == "#"
    page.keyboard.press("ArrowUp")
    assert focused(page) == "#"


def test_a_table_is_one_stop_for_the_tab_key(show: Show) -> None:
    page = show(quickstart())
    page.locator(FIRST + "td.rate").click()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('table') !== document.querySelector('.ranking table')")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.matches('td.rate')")


def test_escape_closes_and_enter_opens_again(show: Show) -> None:
    page = show(quickstart())
    tip = page.get_by_role("tooltip")
    page.locator(FIRST + "td.rate").click()
    expect(tip).to_be_visible()
    assert page.evaluate("document.activeElement.getAttribute('aria-describedby')") == "tip"
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    assert page.evaluate("document.activeElement.hasAttribute('aria-describedby')") is False
    page.keyboard.press("Enter")
    expect(tip).to_be_visible()
    page.get_by_label("Filter by name").focus()
    expect(tip).to_be_hidden()


def test_every_cell_of_every_ranking_has_its_explanation(show: Show) -> None:
    page = show(quickstart())
    page.locator(".ranking th button").first.focus()
    tip = page.get_by_role("tooltip")
    for _ in range(12):
        page.keyboard.press("ArrowRight")
        assert len(tip.inner_text()) > 40
    for key in ("p99", "CPU/req", "peak memory", "errors", "tie"):
        page.locator(cell(page, key)).click()
        text = tip.inner_text()
        assert text.startswith(f"{key} of go-nethttp: ")
        assert text.count("\n") >= 1


def test_a_number_of_a_doubt_says_its_sentence(show: Show) -> None:
    page = show(quickstart())
    link = page.locator('.ranking a[href^="#doubt"]').first
    tip = point_at(page, link)
    expect(tip).to_be_visible()
    number, kind = (link.get_attribute("aria-label") or "").split(" ", 1)
    assert number == link.inner_text()
    assert tip.inner_text().startswith(f"{kind}: ")
    page.mouse.move(0, 0)  # the page scrolls to what gets the focus, and there it brings no cell under the pointer
    expect(tip).to_be_hidden()
    link.focus()
    expect(tip).to_contain_text(kind)


def test_a_finger_opens_and_closes(show: Show) -> None:
    page = show(quickstart(), width=380, has_touch=True, is_mobile=True)
    tip = page.get_by_role("tooltip")
    page.locator(cell(page, "p99")).tap()
    expect(tip).to_contain_text("p99 of go-nethttp")
    box = tip.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 380
    page.locator(cell(page, "p50")).tap()
    expect(tip).to_contain_text("p50 of go-nethttp")
    page.locator("h2").first.tap()
    expect(tip).to_be_hidden()


def test_the_figures_at_the_top_explain_themselves(show: Show) -> None:
    page = unfold(show(of_a_study()))
    page.locator(".facts span", has_text="a fresh server in each").focus()
    expect(page.get_by_role("tooltip")).to_contain_text("each contender is started again")


def test_an_explanation_follows_its_figure_when_the_page_scrolls(show: Show) -> None:
    page = show(quickstart())
    target, tip = page.locator(FIRST + "td.rate"), page.get_by_role("tooltip")
    target.focus()
    page.evaluate("scrollBy(0, 60)")
    page.wait_for_function(
        "() => { const t = document.querySelector('#tip').getBoundingClientRect(),"
        " c = document.activeElement.getBoundingClientRect();"
        " return Math.min(Math.abs(t.bottom - c.top), Math.abs(t.top - c.bottom)) < 12 }"
    )
    assert tip.is_visible()


def test_tables_of_a_study_explain_their_figures_too(show: Show) -> None:
    page = unfold(show(of_a_study()))
    figure = page.locator("#studied ~ div table td", has_text="45,000").first
    tip = point_at(page, figure)
    expect(tip).to_contain_text("512 of go: 45,000")
    expect(tip).to_contain_text("requests/s, over 3 rounds")
    figure.click()
    page.keyboard.press("ArrowDown")
    expect(tip).to_contain_text("512 of node: 8,000")


def test_figures_below_the_ranking_say_what_their_column_is(show: Show) -> None:
    page = unfold(show(quickstart()))
    figure = page.locator(".work >> nth=0 >> tbody tr >> nth=0 >> td.n >> nth=2")
    tip = point_at(page, figure)
    expect(tip).to_contain_text("per core-second of go-nethttp: ")
    expect(tip).to_contain_text("the inverse of the ranking's CPU/req")
    figure.click()
    page.keyboard.press("Control+Home")
    assert focused(page) == "requests/s"
    expect(tip).to_contain_text("Correct answers per second over its turns")
    page.keyboard.press("ArrowDown")
    expect(tip).to_contain_text("requests/s of go-nethttp: ")


def test_heads_of_tables_of_sentences_explain_themselves_to_a_finger(show: Show) -> None:
    page = unfold(show(of_a_study(), width=380, has_touch=True, is_mobile=True))
    tip = page.get_by_role("tooltip")
    page.locator(".claims th", has_text="here").tap()
    expect(tip).to_contain_text("Cannot tell: the intervals allow both")
    page.locator(".starts th", has_text="workers x threads").tap()
    expect(tip).to_contain_text("the rule that gave this number for the cores here")


def test_a_row_of_two_names_is_about_both(show: Show) -> None:
    page = unfold(show(faceted()))
    tip = point_at(page, page.locator("#studied ~ div table td", has_text="250").first)
    expect(tip).to_contain_text("64 of none on a, pypy: 250")
