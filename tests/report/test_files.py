"""Markdown, CSV and JSON."""

import csv
import io
import json

import pytest

from tests.analyse.fakes import FINGERPRINT, plan, run, study
from tests.report.once import analysed
from webdyno.analyse import analyse
from webdyno.model.run import Run
from webdyno.report.csv import render_csv
from webdyno.report.json import render_json
from webdyno.report.markdown import render_markdown


def lone(name: str, **changes: object) -> list[Run]:
    return [run(name, round_=r, **changes) for r in (1, 2, 3)]


def test_markdown_has_a_table_for_each_workload_and_the_doubts_below() -> None:
    made = study()
    text = render_markdown(*made, analysed(made))
    assert text.count("| # | contender | requests/s |") == 2
    assert "**take go-nethttp: it served the most on every workload**" in text
    assert "- **1! dead-cell**: " in text
    assert "## Skipped" in text
    ranked, starts = text.split("## Versions and commands")
    rows = [line for line in ranked.splitlines() if line.startswith("|")]
    assert {row.count("|") for row in rows} == {13}
    assert {row.count("|") for row in starts.splitlines() if row.startswith("|")} == {5}
    assert "webdyno run quickstart --seed 7 --rounds 3" in starts


def test_markdown_from_outside_breaks_nothing() -> None:
    runs = lone("a|b<script>*x*", outcome="died", message="```\n# not a heading", log_tail="```` four", slices=[])
    text = render_markdown(plan(runs), FINGERPRINT, runs, analyse(plan(runs), FINGERPRINT, runs))
    assert "<script>" not in text
    assert "\\<script\\>" in text
    assert "\n# not" not in text
    assert "`````\n```` four\n`````" in text


def test_csv_has_one_line_per_contender_and_table_with_plain_numbers() -> None:
    made = study()
    analysis = analysed(made)
    rows = list(csv.DictReader(io.StringIO(render_csv(*made, analysis))))
    assert len(rows) == 30
    assert {row["driver"] for row in rows} == {"engine"}
    first = analysis.verdicts[0].standings[0]
    assert first.rate is not None
    assert float(rows[0]["rate_per_s"]) == first.rate.value
    assert float(rows[0]["rate_per_s_low"]) == first.rate.low
    assert (rows[0]["place"], rows[0]["winner"], rows[0]["tie"]) == ("1", "1", "A")
    failed = next(row for row in rows if row["contender"] == "meinheld")
    assert (failed["rate_per_s"], failed["place"], failed["outcomes"]) == ("", "", "build-failed:3")
    assert failed["voided"] == "1"


def test_csv_is_no_formula_for_a_spreadsheet() -> None:
    runs = lone("=HYPERLINK(1)")
    text = render_csv(plan(runs), FINGERPRINT, runs, analyse(plan(runs), FINGERPRINT, runs))
    assert "'=HYPERLINK(1)" in text


def test_json_carries_every_estimate_with_its_interval_and_every_doubt_with_its_numbers() -> None:
    made = study()
    told = json.loads(render_json(*made, analysed(made)))
    assert told["schema"] == 2
    assert told["runs_done"] == 90
    standing = told["analysis"]["verdicts"][0]["standings"][0]
    for figure in ("rate", "p50", "p99", "cpu_per_request", "memory_peak", "ratio_to_best"):
        assert standing[figure]["low"] <= standing[figure]["value"] <= standing[figure]["high"]
    doubts = [d for s in told["analysis"]["verdicts"][0]["standings"] for d in s["doubts"]]
    assert all(doubt["sentence"] and doubt["advice"] for doubt in doubts)
    assert told["failures"][0]["contender"] == "cherrypy"


@pytest.mark.parametrize("render", [render_markdown, render_csv, render_json])
def test_nothing_measured_still_makes_a_file(render) -> None:
    empty = plan([])
    assert render(empty, FINGERPRINT, [], analyse(empty, FINGERPRINT, []))
