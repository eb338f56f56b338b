"""The times within which parts of the requests were served: ours and the article's in one table, and as a chart."""

from __future__ import annotations

import json
from functools import cache

import msgspec
import numpy as np

from tests.analyse.fakes import FINGERPRINT, change_slices, plan, run
from tests.report.drawn import wide
from tests.report.test_html import parsed
from webdyno.analyse import analyse
from webdyno.model.claim import Original, OriginalFigure
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.report.html import render_html
from webdyno.report.json import render_json
from webdyno.report.markdown import render_markdown
from webdyno.report.sheets import Sheet, sheets

MILLISECOND = 1e6
BY_AB = {50: 4.0, 66: 4.2, 75: 4.4, 80: 4.6, 90: 6.0, 95: 8.0, 98: 11.0, 99: 80.0}
ORIGINAL = Original(
    source="an article",
    year=2013,
    baseline="go",
    driver="ab",
    figures=[
        OriginalFigure(
            contender="go", as_named="Go 1.1", workload="hello", connections=64, measure=measure, value=value
        )
        for measure, value in (("p50", 1.0), ("p98", 2.0))
    ],
)


def counted(name: str, slower: float, round_: int) -> Run:
    """A hundred requests that took 1 to 100 ms, by our engine."""
    times = np.arange(1, 101) * MILLISECOND * slower
    return run(name, round_=round_, rate=100.0, latency_ns=np.tile(times, 2))


def printed(name: str, slower: float, round_: int, parts: dict[int, float] = BY_AB) -> Run:
    """What ab said of them."""
    points = {f"p{part}": ms * slower * MILLISECOND for part, ms in parts.items()}
    one = run(name, driver="ab", round_=round_, rate=100.0)
    steady = change_slices(one, latency_ns={**points, "max": 247 * slower * MILLISECOND})
    return msgspec.structs.replace(steady, slices=steady.slices[:2])


@cache
def made() -> tuple[Plan, list[Run]]:
    runs = [
        of(name, slower * noise, at)
        for of in (counted, printed)
        for name, slower in (("go", 1.0), ("node", 2.0))
        for at, noise in enumerate((1.0, 1.02, 0.98), 1)
    ]
    return plan(runs, shows=["percentiles"], original=ORIGINAL), runs


def tables(of: Plan, runs: list[Run]) -> dict[str, Sheet]:
    """By the end of their titles: the driver."""
    told = sheets(analyse(of, FINGERPRINT, runs))
    return {s.title.rpartition(", ")[2]: s for s in told if s.title.startswith("Percentage of the requests served")}


def test_every_part_of_abs_table_stands_in_ours_from_its_own_words_and_from_our_histogram() -> None:
    found = tables(*made())
    head = ["contender", "50%", "66%", "75%", "80%", "90%", "95%", "98%", "99%", "100%"]
    assert [sheet.head for sheet in found.values()] == [head, head]
    assert found["keep-alive"].rows[0][1:] == ["50", "66", "75", "80", "90", "95", "98", "99", "100"]
    theirs = found["by ab"].rows[0]
    assert [theirs[0], theirs[1], theirs[-1]] == ["go", "4.00", "247"]
    assert found["by ab"].sure[0][1].startswith("95 % interval 3.")


def test_the_articles_figures_stand_below_ours_by_the_same_tool_only() -> None:
    found = tables(*made())
    names = [row[0] for row in found["by ab"].rows]
    assert names == ["go", "in the article", "node"]
    assert found["by ab"].rows[1][1:8] == ["1", *["-"] * 5, "2"]
    assert [row[0] for row in found["keep-alive"].rows] == ["go", "node"]


def test_a_figure_between_p50_and_p99_has_no_table_of_its_own_besides() -> None:
    titles = [sheet.title for sheet in sheets(analyse(made()[0], FINGERPRINT, made()[1]))]
    beside = [title for title in titles if "original vs here" in title]
    assert beside == ["Median latency, original vs here: hello, 64 connections, keep-alive, by ab"]


def test_a_part_that_a_tool_does_not_give_is_unknown() -> None:
    runs = [printed("go", noise, at, {50: 4.0, 75: 4.4}) for at, noise in enumerate((1.0, 1.02, 0.98), 1)]
    row = tables(plan(runs, shows=["percentiles"]), runs)["by ab"].rows[0]
    assert [at for at, cell in enumerate(row) if cell == "-"] == [2, 4, 5, 6, 7, 8]


def test_a_study_that_does_not_ask_has_no_such_table() -> None:
    of, runs = made()
    assert tables(msgspec.structs.replace(of, shows=["p99"]), runs) == {}


def test_the_page_draws_a_line_for_each_contender_and_the_other_forms_have_the_table() -> None:
    of, runs = made()
    analysis = analyse(of, FINGERPRINT, runs)
    checker = parsed(wide(render_html(of, FINGERPRINT, runs, analysis)))
    labels = [v for name, v in checker.attributes if name == "aria-label"]
    drawn = [label for label in labels if "percentage of the requests was served" in (label or "")]
    assert len(drawn) == 2
    assert "| in the article | 1 |" in render_markdown(of, FINGERPRINT, runs, analysis)
    told = json.loads(render_json(of, FINGERPRINT, runs, analysis))["analysis"]["percentiles"]
    assert [(row["contender"], row["driver"]) for row in told] == [
        ("go", "engine"), ("node", "engine"), ("go", "ab"), ("node", "ab"),
    ]  # fmt: skip
    assert told[2]["cells"][7]["unit"] == "ns"
