"""What is shown: by name, by what a contender is made of, by a link; and in which order."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import Show, unfold
from tests.browser.pages import evil, little, many_tables, of_a_study, quickstart

ROWS = ".ranking >> nth=0 >> tbody tr"
OF = "rows => rows.filter(row => !row.hidden).map(row => row.dataset.contender)"


def names(page: Page) -> list[str]:
    """Contenders that the first table shows, in its order."""
    return page.eval_on_selector_all(
        ".ranking:first-of-type tbody",
        "([body]) => [...body.rows].filter(r => !r.hidden).map(r => r.dataset.contender)",
    )


def status(page: Page) -> str:
    return page.locator("#controls").get_by_role("status").inner_text()


def fragment(page: Page, wanted: str) -> None:
    page.wait_for_function("wanted => location.hash === wanted", arg=wanted)


def column(page: Page, key: str) -> list[str]:
    """The texts of a column of the first table, from top to bottom."""
    return page.eval_on_selector(
        ".ranking table",
        "(t, key) => { const at = [...t.tHead.rows[0].cells].findIndex(c => c.dataset.key === key);"
        " return [...t.tBodies[0].rows].map(r => r.cells[at].textContent) }",
        key,
    )


def test_typing_a_name_keeps_what_matches_and_says_how_many(show: Show) -> None:
    page = show(quickstart())
    everyone = names(page)
    assert status(page) == f"{len(everyone)} of {len(everyone)} shown"
    page.get_by_label("Filter by name").fill("gunicorn")
    assert names(page) == [name for name in everyone if "gunicorn" in name]
    assert status(page) == f"3 of {len(everyone)} shown"
    expect(page.locator(".shown").first).to_contain_text("3 of ")
    fragment(page, "#name=gunicorn")
    page.get_by_role("button", name="Show all").first.click()
    assert names(page) == everyone
    expect(page.locator(".shown").first).to_be_hidden()
    fragment(page, "")


def test_words_side_by_side_commas_and_exclamation_marks(show: Show) -> None:
    page = show(quickstart())
    everyone = names(page)
    box = page.get_by_label("Filter by name")
    box.fill("gunicorn g")
    assert set(names(page)) == {"gunicorn-gevent", "gunicorn-gthread", "gunicorn-sync"}
    box.fill("GUNICORN gev, tornado")
    assert set(names(page)) == {"gunicorn-gevent", "tornado"}
    box.fill("gunicorn !sync")
    assert set(names(page)) == {"gunicorn-gevent", "gunicorn-gthread"}
    box.fill("!gunicorn !granian")
    assert names(page) == [name for name in everyone if "gunicorn" not in name and "granian" not in name]
    box.fill("! ,")
    assert names(page) == everyone
    box.fill("nothing-like-it")
    assert status(page) == f"0 of {len(everyone)} shown"


def test_places_and_letters_stay_those_of_the_analysis(show: Show) -> None:
    page = show(quickstart())
    first = dict(zip(names(page), zip(column(page, "place"), column(page, "tie"), strict=True), strict=True))
    page.get_by_label("Filter by name").fill("!go")
    page.locator(".ranking th button", has_text="p99").first.click()
    order = page.eval_on_selector_all(ROWS, "rows => rows.map(r => r.dataset.contender)")
    again = dict(zip(order, zip(column(page, "place"), column(page, "tie"), strict=True), strict=True))
    assert again == first


def test_a_language_a_model_and_a_workload_can_be_chosen(show: Show) -> None:
    page = show(quickstart())
    everyone = names(page)
    page.get_by_label("Language").select_option("Python")
    assert names(page) == [name for name in everyone if name not in ("go-nethttp", "node-http")]
    page.get_by_label("Model").select_option("event loop")
    assert set(names(page)) == {"uvicorn", "aiohttp", "tornado", "twisted"}
    page.get_by_label("Workload").select_option("json")
    expect(page.locator("#table-1")).to_be_hidden()
    expect(page.locator("#table-2")).to_be_visible()
    fragment(page, "#language=Python&model=event+loop&workload=json")
    page.locator("nav a").first.click()
    expect(page.locator("#table-1")).to_be_visible()


def test_a_choice_of_one_is_no_choice(show: Show) -> None:
    page = show(quickstart())
    assert page.get_by_label("Framework").count() == 0


def test_a_view_can_be_linked(show: Show) -> None:
    page = show(quickstart(), "#name=gunicorn&workload=hello&sort1=-p99")
    assert set(names(page)) == {"gunicorn-gevent", "gunicorn-gthread", "gunicorn-sync"}
    assert page.get_by_label("Filter by name").input_value() == "gunicorn"
    assert page.get_by_label("Workload").input_value() == "hello"
    assert page.locator("th[aria-sort]").first.inner_text().startswith("p99")
    assert page.locator("th[aria-sort]").first.get_attribute("aria-sort") == "descending"
    expect(page.locator("#table-2")).to_be_hidden()


def test_a_link_made_by_a_stranger_does_no_harm(show: Show) -> None:
    page = show(
        quickstart(), "#name=<img src=x onerror=alert(1)>&language=__proto__&sort1=<b>&sort2=constructor&other=1"
    )
    assert names(page) == []
    page.get_by_role("button", name="Show all").first.click()
    assert len(names(page)) == 14


def test_a_place_in_the_page_is_no_view(show: Show) -> None:
    page = show(quickstart(), "#sure")
    assert len(names(page)) == 14
    assert page.evaluate("location.hash") == "#sure"
    page.get_by_label("Filter by name").fill("go")
    page.locator("nav a", has_text="How sure?").click()
    assert names(page) != []
    assert len(names(page)) < 14


def test_lines_of_who_is_filtered_out_fade(show: Show) -> None:
    page = show(quickstart())
    chart = page.locator("svg.chart").first
    assert chart.locator(".away").count() == 0
    page.get_by_label("Filter by name").fill("go-nethttp")
    assert chart.locator("text.label:not(.away)").all_text_contents() == ["go-nethttp"]
    assert chart.locator("path.line:not(.away)").count() == 1
    assert chart.locator("path.line.away").count() == 13


def test_a_column_sorts_by_mouse_best_first_and_then_the_other_way(show: Show) -> None:
    page = show(quickstart())
    head = page.locator(".ranking th", has_text="p99").first
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    order = "rows => rows.map(r => Number(r.querySelector('[data-label=p99]').dataset.value))"
    values = page.eval_on_selector_all(ROWS, order)
    assert values == sorted(values)
    assert values != sorted(values, reverse=True)
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert page.eval_on_selector_all(ROWS, order) == values[::-1]
    assert page.locator(".ranking >> nth=0 >> th[aria-sort]").count() == 1
    assert "sorted by p99" in status(page)
    fragment(page, "#sort1=-p99")


def test_a_column_sorts_by_keyboard(show: Show) -> None:
    page = show(quickstart())
    before = names(page)
    page.locator(".ranking th button").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert names(page) == sorted(before)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    assert names(page) == before


def test_what_is_unknown_stands_last_both_ways(show: Show) -> None:
    html = quickstart().replace('data-label="p99" data-unit="ms" data-value=', 'data-label="p99" data-none=', 1)
    page = show(html)
    button = page.locator(".ranking th button", has_text="p99").first
    first = names(page)[0]
    for _ in range(2):
        button.click()
        assert names(page)[-1] == first


def test_a_name_that_is_markup_is_only_a_name(show: Show) -> None:
    page = show(evil())
    page.get_by_label("Filter by name").fill("<script>")
    assert status(page) == "1 of 2 shown"
    page.locator(".ranking td.name:visible").hover()
    expect(page.get_by_role("tooltip")).to_contain_text("<script>alert(1)</script>")
    page.get_by_label("Model").select_option(index=1)


def test_tables_of_a_study_are_filtered_too_and_say_so(show: Show) -> None:
    page = unfold(show(of_a_study(), "#name=go"))
    table = page.locator(".card", has_text="Requests served per second against connections").last
    assert table.locator("tbody tr:visible td:first-child").all_inner_texts() == ["go"]
    expect(table.locator(".shown")).to_contain_text("1 of 2 shown")
    table.get_by_role("button", name="Show all").click()
    assert table.locator("tbody tr:visible").count() == 2
    page.get_by_label("Filter by name").fill("nobody")
    expect(table.locator(".shown")).to_contain_text("0 of 2 shown")


def test_the_only_contender_can_be_linked_away_and_brought_back(show: Show) -> None:
    page = show(little(), "#name=nobody")
    assert page.get_by_label("Filter by name").count() == 0
    page.get_by_role("button", name="Show all").first.click()
    assert names(page) == ["go"]


def test_a_link_leads_into_a_table_that_is_filtered_and_sorted(show: Show) -> None:
    page = show(many_tables(), "#name=!tornado&sort3=-rate")
    page.locator("a[href='#table-3']").first.click()
    ranking = page.locator(".ranking").nth(2)
    expect(ranking.locator("tbody tr:visible")).to_have_count(2)
    expect(ranking.locator("tbody tr:visible b")).to_have_text(["node", "go"])
    expect(ranking.locator("th[aria-sort]")).to_contain_text("requests/s")
    ranking.locator("td.rate:visible").first.click()
    expect(page.get_by_role("tooltip")).to_contain_text("requests/s of node: 15,000")
