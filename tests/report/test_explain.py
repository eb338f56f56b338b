"""What figures say of themselves, the facets of a row, and the policy that allows one script."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import msgspec
import pytest

import webdyno.report
from tests.analyse.fakes import FIELD, FINGERPRINT, contender, plan, run, study
from tests.analyse.test_scale import study as scaled
from tests.report import studied
from tests.report.once import analysed, page
from tests.report.test_html import parsed
from webdyno.analyse import analyse
from webdyno.model.estimate import Estimate
from webdyno.report import explain, words
from webdyno.report.ranking import facets, ranking

HERE = Path(webdyno.report.__file__).parent
SCRIPT = "\n".join((HERE / name).read_text(encoding="utf-8") for name in ("page.js", "pairs.js", "explain.js"))


def test_the_policy_allows_exactly_the_script_of_the_page() -> None:
    html = page(study())
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert SCRIPT in script
    (policy,) = [value for name, value in parsed(html).attributes if name == "content" and value.startswith("default-")]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"; script-src 'sha256-{digest}'; " in policy
    assert policy.startswith("default-src 'none'; ")
    assert policy.count("unsafe-inline") == policy.count("style-src 'unsafe-inline'") == 1


def test_the_script_loads_nothing_and_writes_no_markup() -> None:
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|fetch|import|</|<!--", SCRIPT
    )
    assert not re.search(r"https?:|localStorage|cookie", SCRIPT)


def standing(name: str = "go-nethttp"):
    made = study()
    verdict = analysed(made).verdicts[0]
    return next(each for each in verdict.standings if each.contender == name), verdict, made[0]


def test_a_cell_says_its_interval_its_unit_and_its_rounds() -> None:
    first, verdict, _ = standing()
    p99 = Estimate(value=2.9e6, low=2.6e6, high=3.1e6, rounds=8, unit="ns")
    first = msgspec.structs.replace(first, p99=p99, errors={"reset": 1200, "timeout": 3})
    assert explain.of_cell("p99", first, verdict) == "95 % interval 2.6 to 3.1 ms, over 8 rounds."
    assert explain.of_cell("errors", first, verdict) == "By kind, over all rounds: reset 1,200 and timeout 3."
    one = msgspec.structs.replace(first, p99=Estimate(value=2.9e6, low=None, high=None, rounds=1, unit="ns"))
    assert explain.of_cell("p99", one, verdict) == "Without an interval, over 1 round."
    wild = msgspec.structs.replace(first, p99=Estimate(value=2.9e6, low=1e-3, high=1e19, rounds=2, unit="ns"))
    assert explain.of_cell("p99", wild, verdict) == "Its 95 % interval is unknown: 2 rounds differ too much."
    none = msgspec.structs.replace(first, p99=None)
    assert explain.of_cell("p99", none, verdict) == "Not measured; unknown is not zero."
    assert explain.of_cell("ratio", first, verdict) == "It is the best."
    assert explain.order("p99", none) is None
    assert explain.order("p99", first) == "2.9e+06"


def test_a_letter_names_who_shares_it() -> None:
    first, verdict, _ = standing("gunicorn-gevent")
    text = explain.of_cell("tie", first, verdict) or ""
    for other in verdict.standings:
        shares = other.contender != first.contender and bool(set(other.letters) & set(first.letters))
        assert (other.contender in text) == shares
    lone, verdict, _ = standing()
    assert explain.of_cell("tie", lone, verdict) == "Not tied with any other."


def test_a_column_says_how_its_figures_come_about_as_the_plan_has_it() -> None:
    made = plan([run()])
    assert "left out" not in explain.of_column("p99", made)
    trimmed = explain.of_column("p99", msgspec.structs.replace(made, estimate="trimmed"))
    assert "without the highest and the lowest round of each" in trimmed
    assert all(explain.of_column(key, made).endswith(".") for key in words.COLUMNS)


@pytest.mark.parametrize("name", [rated.name for rated in FIELD])
def test_a_row_carries_what_it_can_be_filtered_by(name: str) -> None:
    _, _, made = standing(name)
    rated = next(each for each in FIELD if each.name == name)
    assert facets(made, name) == {
        "data_contender": name,
        "data_server": name,
        "data_framework": "none",
        "data_language": rated.language,
        "data_model": rated.model,
    }


HEAD = re.compile(r'<th((?: (?!scope="row")[^>]*)?)>([^<]*)</th>')
NAMES = {"contender", "framework on server", "runtime", "route", "claim", "workload", ""}
"""Heads that say all; the empty ones stand over bars, and over the verdict on a figure of the original."""
CONTENTS = {"workload", "load", "top group", "requests/s of the first"}
BELOW = {"per core-second", "cold start", "contention", "here", "versions", "512", "third / first", "of all", "then"}


def test_every_column_of_every_table_says_what_it_is_without_a_script() -> None:
    runs = scaled(0.9, 0.0)
    pages = [page(made) for made in (study(), studied.study(), studied.faceted(), (plan(runs), FINGERPRINT, runs))]
    heads = [head for html in pages for head in HEAD.findall(html)]
    assert {text for attributes, text in heads if "title=" not in attributes} <= NAMES | CONTENTS
    assert {text for attributes, text in heads if "title=" in attributes} >= BELOW


def test_a_contender_unknown_to_the_plan_has_its_name_only() -> None:
    assert facets(plan([]), "gone") == {"data_contender": "gone"}


def test_a_thousand_explained_figures_stay_small() -> None:
    runs = [run(f"contender-number-{n}", round_=r, rate=1000.0 + n) for n in range(100) for r in (1, 2, 3)]
    named = {each.trial.contender: contender(each.trial.contender, model="event loop and threads") for each in runs}
    made = plan(runs, contenders=named)
    analysis = analyse(made, FINGERPRINT, runs)
    table = ranking(made, analysis.verdicts[0], words.marks(analysis), {})
    assert table.count("<tr") == 101
    assert len(table) / 100 < 2_600  # five loads of a hundred contenders: 1.3 MB of the 3 MB a page may have
