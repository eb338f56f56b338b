"""What is shown as "vs best" carries the interval of that ratio, and not only that of the rate, in every form."""

from __future__ import annotations

import csv
import io
import json
import re
from functools import cache

import msgspec
import numpy as np
import pytest
from rich.console import Console

from tests.analyse.fakes import FINGERPRINT, plan, run
from tests.report.test_terminal import FOLDER
from webdyno.analyse import analyse, words
from webdyno.model.estimate import Estimate
from webdyno.model.race import Race
from webdyno.model.verdict import Analysis, Standing
from webdyno.report import words as said
from webdyno.report.csv import render_csv
from webdyno.report.explain import of_column
from webdyno.report.html import render_html
from webdyno.report.json import render_json
from webdyno.report.markdown import render_markdown
from webdyno.report.openmetrics import render_openmetrics
from webdyno.report.picture import render_picture
from webdyno.report.terminal import render_terminal


@cache
def uneven(rounds: int = 5):
    """Rounds that differ by a lot and in the same way for both, so that a ratio is known far better than a rate."""
    rng = np.random.default_rng(3)
    runs = [
        run(name, round_=r, rate=rate * machine * float(np.exp(rng.normal(0, 0.005))))
        for r, machine in enumerate((1.0, 0.8, 1.25, 0.9, 1.1)[:rounds], 1)
        for name, rate in (("go", 20_000.0), ("node", 15_000.0))
    ]
    made = plan(runs)
    return (made, FINGERPRINT, runs), analyse(made, FINGERPRINT, runs)


def terminal(width: int, made, analysis: Analysis) -> str:
    out = io.StringIO()
    render_terminal(*made, analysis, FOLDER, Console(file=out, width=width))
    return out.getvalue()


FORMS = {
    "terminal": lambda made, analysis: terminal(120, made, analysis),
    "terminal of 80": lambda made, analysis: terminal(80, made, analysis),
    "markdown": lambda made, analysis: render_markdown(*made, analysis),
    "html": lambda made, analysis: render_html(*made, analysis),
    "picture": lambda made, analysis: render_picture(*made, analysis, dark=False),
}


def second(analysis: Analysis) -> Standing:
    return analysis.verdicts[0].standings[1]


def test_the_interval_of_the_ratio_is_far_narrower_than_that_of_the_rate() -> None:
    _, analysis = uneven()
    rate, ratio = second(analysis).rate, second(analysis).ratio_to_best
    assert rate is not None
    assert ratio is not None
    assert (ratio.high - ratio.low) / ratio.value < 0.1 * (rate.high - rate.low) / rate.value


@pytest.mark.parametrize("form", FORMS)
def test_every_form_shows_the_interval_of_the_ratio_beside_that_of_the_rate(form: str) -> None:
    made, analysis = uneven()
    text = FORMS[form](made, analysis).replace("\u2013", "-").replace("\u00d7", "x")
    ratio = second(analysis).ratio_to_best
    assert ratio is not None
    shown, bounds = said.of_best(ratio).split(" ")
    assert re.search(rf"{re.escape(shown)} (<small>)?\(?{re.escape(bounds.strip('()'))}", text)
    assert words.interval(second(analysis).rate) in text


@pytest.mark.parametrize("form", [form for form in FORMS if form != "picture"])
def test_a_report_says_once_which_interval_is_for_what(form: str) -> None:
    made, analysis = uneven()
    text = " ".join(FORMS[form](made, analysis).split())
    assert text.count(said.BY_RATIO) == text.count(said.BY_ITSELF) == 1


def test_so_does_a_picture() -> None:
    made, analysis = uneven()
    text = " ".join(re.sub(r"<[^>]*>", " ", FORMS["picture"](made, analysis)).split())
    assert text.count("The interval beside vs best is that of the ratio") == 1
    assert text.count("is the 95 % interval of the rate on its own") == 1


@pytest.mark.parametrize("form", FORMS)
def test_a_single_round_shows_a_ratio_without_an_interval_and_no_word_of_one(form: str) -> None:
    made, analysis = uneven(rounds=1)
    text = " ".join(FORMS[form](made, analysis).split())
    assert "vs best is that of the ratio" not in text
    assert second(analysis).ratio_to_best.low is None
    assert not re.search(r"0\.7\d+[x×] (<small>)?\(?0", text)


def test_in_data_the_interval_of_the_ratio_has_columns_keys_and_metrics_of_its_own() -> None:
    made, analysis = uneven()
    ratio = second(analysis).ratio_to_best
    assert ratio is not None
    row = list(csv.DictReader(io.StringIO(render_csv(*made, analysis))))[1]
    columns = [float(row[f"ratio_to_best{end}"]) for end in ("", "_low", "_high")]
    told = json.loads(render_json(*made, analysis))["analysis"]["verdicts"][0]["standings"][1]["ratio_to_best"]
    keys = [told[key] for key in ("value", "low", "high")]
    metrics = re.findall(
        r'^webdyno_to_best(?:_low|_high|)_ratio\{.*contender="node".*\} (\S+)$',
        render_openmetrics(*made, analysis),
        re.M,
    )
    assert columns == keys == [ratio.value, ratio.low, ratio.high]
    assert sorted(map(float, metrics)) == pytest.approx(sorted(keys))


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (0.641, 0.612, 0.668, "0.64x (0.61-0.67)"),
        (0.0931, 0.0712, 0.121, "0.093x (0.071-0.121)"),
        (0.998, 0.9973, 0.9987, "0.998x (0.997-0.999)"),
        (0.97, 0.94, 1.003, "0.970x (0.940-1.003)"),
        (0.97, 0.94, 0.9968, "0.970x (0.940-0.997)"),
        (12.3, 10.9, 13.9, "12.30x (10.90-13.90)"),
        (1.0, 1.0, 1.0, "1.00x"),
        (0.75, None, None, "0.75x"),
    ],
)
def test_an_end_of_the_interval_never_reads_as_the_ratio_nor_as_one(
    value: float, low: float | None, high: float | None, text: str
) -> None:
    assert words.of_best(Estimate(value=value, low=low, high=high, rounds=3, unit="ratio")) == text


@pytest.mark.parametrize("width", range(40, 140))
def test_in_a_narrow_terminal_figures_without_an_interval_give_way_first(width: int) -> None:
    made, analysis = uneven()
    heads = next(line for line in terminal(width, made, analysis).splitlines() if line.split()[:1] == ["#"])
    if "p50" in heads or "p99" in heads:
        assert "vs best" in heads
        assert "95 % interval" in heads
    if "95 % interval" in heads:
        assert "vs best" in heads


def test_in_a_race_alone_the_column_says_that_its_interval_allows_for_every_look() -> None:
    made = uneven()[0][0]
    assert "every look" not in of_column("ratio", made)
    assert "accounts for every look" in of_column("ratio", msgspec.structs.replace(made, race=Race()))
