"""For everyone: light and dark, narrow, printed, without a script, and for those who hear the page."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import BACKGROUND, faults, in_dark
from tests.browser.conftest import Show, unfold
from tests.browser.pages import evil, faceted, little, many_tables, of_a_study, quickstart

PAGES = [quickstart, of_a_study, faceted, many_tables, little, evil]
WIDTH = "document.documentElement.scrollWidth"
HEIGHT = "document.documentElement.scrollHeight"
OPENS = "section > .shut > .opens"
SCREEN_PX = 900
"""Height of every window here."""
WIDTHS = (360, 380, 540, 720, 721, 900, 1020, 1021, 1180, 1280, 1920)
CUT = """() => [...document.querySelectorAll('main td, main th, main li')].filter(it => {
  const card = it.closest('.card, .question')?.getBoundingClientRect(), {width, right} = it.getBoundingClientRect();
  if (!width || !card || it.closest('.scroll')) return false;
  return right > card.right + 1 || it.scrollWidth > it.clientWidth + 1;
}).map(it => it.outerHTML.slice(0, 120))"""
"""What stands out of its card, or is wider than its own cell; boxes that scroll may."""


def background(page: Page) -> str:
    return page.evaluate(BACKGROUND)


@pytest.mark.parametrize("made", PAGES)
def test_axe_finds_nothing_serious_in_light_and_dark(show: Show, made: Callable[[], str]) -> None:
    page = show(made(), color_scheme="light")
    assert faults(page) == []
    assert in_dark(page) == []


def test_what_is_too_faint_in_the_dark_alone_is_found(show: Show) -> None:
    dark = "@media (prefers-color-scheme: dark) { body { background: #000; color: #222 } }"
    style = f"<style>body {{ background: #fff; color: #000 }} {dark}</style>"
    page = show(f'<html lang="en"><title>Faint</title>{style}<main><h1>Faint</h1></main></html>', color_scheme="light")
    assert faults(page) == []
    [fault] = in_dark(page)
    assert fault.startswith("color-contrast (serious): <h1>")


def test_axe_finds_nothing_serious_on_a_telephone_with_all_open(show: Show) -> None:
    page = show(quickstart(), "#name=gunicorn", color_scheme="light", width=380)
    page.locator(".ranking td.rate:visible").first.click()
    expect(page.get_by_role("tooltip")).to_be_visible()
    assert faults(page) == []
    assert in_dark(page) == []
    expect(page.get_by_role("tooltip")).to_be_visible()


@pytest.mark.parametrize("made", [quickstart, of_a_study, many_tables])
def test_no_row_of_a_table_is_cut_at_any_width(show: Show, made: Callable[[], str]) -> None:
    page = unfold(show(made()))
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": SCREEN_PX})
        assert page.evaluate(CUT) == [], f"at {width} px"


def test_a_quickstart_is_six_screens_on_a_telephone_and_five_on_a_desk(show: Show) -> None:
    page = show(quickstart(), width=380)
    assert page.evaluate(HEIGHT) <= 6 * SCREEN_PX
    page.set_viewport_size({"width": 1280, "height": SCREEN_PX})
    assert page.evaluate(HEIGHT) <= 5 * SCREEN_PX


@pytest.mark.parametrize("script", [True, False])
def test_a_telephone_closes_the_second_ranking_until_it_is_tapped(show: Show, script: bool) -> None:
    page = show(quickstart(), width=380, java_script_enabled=script)
    first, second = (page.locator(".ranking").nth(at) for at in range(2))
    expect(first).to_be_visible()
    expect(second).to_be_hidden()
    opens = page.locator(OPENS)
    expect(opens).to_have_text("Ranking of 14 contenders")
    opens.click()
    expect(second).to_be_visible()
    opens.click()
    expect(second).to_be_hidden()


def test_a_link_to_the_second_ranking_opens_it(show: Show) -> None:
    page = show(quickstart(), "#table-2", width=380)
    expect(page.locator(".ranking").nth(1)).to_be_visible()
    expect(page.locator(OPENS)).to_be_hidden()


def test_wide_screens_and_paper_have_every_ranking_open(show: Show) -> None:
    page = show(quickstart())
    expect(page.locator(".ranking").nth(1)).to_be_visible()
    page.set_viewport_size({"width": 380, "height": SCREEN_PX})
    expect(page.locator(".ranking").nth(1)).to_be_hidden()
    page.emulate_media(media="print")
    expect(page.locator(".ranking").nth(1)).to_be_visible()
    expect(page.locator(OPENS)).to_be_hidden()


def test_a_telephone_opens_the_filter_on_a_tap_or_while_it_hides_rows(show: Show) -> None:
    page = show(quickstart(), width=380)
    name = page.get_by_label("Filter by name")
    expect(name).to_be_hidden()
    page.locator("#controls .opens").click()
    expect(name).to_be_visible()
    expect(show(quickstart(), "#name=gunicorn", width=380).get_by_label("Filter by name")).to_be_visible()


@pytest.mark.parametrize("script", [True, False])
@pytest.mark.parametrize("made", PAGES)
def test_a_telephone_needs_no_sideways_scrolling(show: Show, made: Callable[[], str], script: bool) -> None:
    page = show(made(), width=380, java_script_enabled=script)
    assert page.evaluate(WIDTH) <= 380


def test_the_bar_comes_early_on_a_telephone(show: Show) -> None:
    page = show(quickstart(), width=380)
    row = page.locator(".ranking tbody tr").first
    tops = {name: (row.locator(name).first.bounding_box() or {"y": -1.0})["y"] for name in (".name", ".bar", ".more")}
    assert tops[".name"] < tops[".bar"] < tops[".more"]


def test_a_telephone_can_sort(show: Show) -> None:
    page = show(quickstart(), width=380)
    button = page.locator(".ranking th button", has_text="errors").first
    button.click()
    expect(page.locator(".ranking th[aria-sort]").first).to_contain_text("errors")
    assert page.evaluate(WIDTH) <= 380


def test_light_and_dark_follow_the_system_until_chosen(show: Show) -> None:
    page = show(quickstart(), color_scheme="dark")
    dark = background(page)
    page.emulate_media(color_scheme="light")
    light = background(page)
    assert dark != light
    page.get_by_role("button", name="Dark colours").click()
    assert background(page) == dark
    page.reload()
    assert background(page) == dark
    page.emulate_media(color_scheme="dark")
    page.get_by_role("button", name="Light colours").click()
    assert background(page) == light
    page.get_by_role("button", name="Dark colours").click()
    page.emulate_media(color_scheme="light")
    assert background(page) == light


def test_paper_is_white_and_has_no_buttons(show: Show) -> None:
    page = show(quickstart(), "#name=gunicorn", color_scheme="dark")
    page.emulate_media(media="print")
    assert background(page) == "rgb(255, 255, 255)"
    assert page.locator("button:visible").count() == 0
    expect(page.locator("#controls")).to_be_hidden()
    expect(page.locator(".shown").first).to_contain_text("3 of 14 shown")


def test_everything_is_there_without_a_script(show: Show) -> None:
    page = show(quickstart(), "#name=gunicorn", java_script_enabled=False)
    assert page.locator(".ranking tbody tr:visible").count() == 28
    assert page.locator("button:visible, input:not([type=radio]):visible, select:visible").count() == 0
    assert "95 % interval" in (page.locator(".ranking td.rate").first.get_attribute("title") or "")
    assert "the inverse" in (page.locator(".work th", has_text="per core-second").first.get_attribute("title") or "")


def test_no_other_script_runs_even_where_escaping_slipped(show: Show) -> None:
    slip = "<script>window.slipped = 1</script><img src='data:,x' onerror='window.slipped = 1'></main>"
    page = show(quickstart().replace("</main>", slip), watched=False)
    expect(page.locator("#controls")).to_be_visible()
    assert page.evaluate("window.slipped === undefined")


def test_boxes_that_scroll_can_be_reached_by_keyboard(show: Show) -> None:
    page = unfold(show(quickstart(), width=380))
    box = page.get_by_role("region", name="End of its log").first
    moved = 0
    for _ in range(50):  # a key pressed while the page is still being laid out is lost
        box.press("ArrowRight")
        if moved := page.evaluate("document.activeElement.scrollLeft"):
            break
        page.wait_for_timeout(100)
    assert moved > 0
