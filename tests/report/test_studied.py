"""What a study adds to each form of the report: its tables and charts, the original's figures, and every claim."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import msgspec
import pytest

from tests.analyse.fakes import FINGERPRINT, LOAD, plan
from tests.report import once
from tests.report.drawn import wide
from tests.report.once import page
from tests.report.studied import ORIGINAL, faceted, rounds, study
from tests.report.test_html import parsed
from tests.report.test_terminal import rendered
from webdyno.analyse import analyse
from webdyno.model.claim import Graph, OriginalFigure
from webdyno.model.curve import Course
from webdyno.model.estimate import Estimate
from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.system import System
from webdyno.model.trial import Plan
from webdyno.model.verdict import Analysis
from webdyno.report import course
from webdyno.report.html import render_html
from webdyno.report.iterations import iterations
from webdyno.report.json import render_json
from webdyno.report.markdown import render_markdown
from webdyno.report.sheet import Sheet
from webdyno.report.sheets import lone, sheets
from webdyno.report.studied import charts


@cache
def analysed() -> Analysis:
    """Once for all: it takes half a second."""
    return analyse(*study())


@cache
def shown() -> str:
    """Its page."""
    return render_html(*study(), analysed())


def told(title: str) -> Sheet:
    (found,) = [sheet for sheet in sheets(analysed()) if sheet.title.startswith(title)]
    return found


def test_figures_stand_against_connections() -> None:
    sheet = told("Requests served per second against connections: hello")
    assert sheet.title.endswith("hello, keep-alive")
    assert sheet.head == ["contender", "64", "512"]
    assert sheet.rows == [["go", "50,000", "45,000"], ["node", "10,000", "8,000"]]
    assert told("Peak memory in MiB against").rows[0] == ["go", "58.2", "58.2"]
    assert sheet.means[2].startswith("Requested over 512 connections at once. Correct answers per second")


def test_each_figure_of_a_table_can_say_its_interval_and_its_rounds() -> None:
    sheet = told("Requests served per second against connections: hello")
    assert [row[0] for row in sheet.sure] == ["", ""]
    assert sheet.sure[0][2].startswith("95 % interval 4")
    assert sheet.sure[0][2].endswith(" requests/s, over 3 rounds.")
    assert told("Figures: hello, keep-alive, by ab").sure[0][2].count(" to ") == 1
    assert f'title="{sheet.sure[0][2]}"' in shown()


def test_a_table_of_times_has_one_unit_and_its_digits_never_contradict_the_order() -> None:
    rates = {"quick": 40_000.0, "middling": 10_050.0, "near": 9_980.0, "slow": 2.0}
    more = msgspec.structs.replace(LOAD, connections=512)
    runs = [each for name, rate in rates.items() for load in (LOAD, more) for each in rounds(name, rate, load=load)]
    (sheet,) = [it for it in sheets(analyse(plan(runs, shows=["p99"]), FINGERPRINT, runs)) if "p99" in it.title]
    assert sheet.title.startswith("p99 latency in µs against connections")
    figures = {row[0]: float(row[1].replace(",", "")) for row in sheet.rows}
    assert figures["quick"] < figures["middling"] <= figures["near"] < 1_000 < figures["slow"]


def test_a_load_at_one_number_of_connections_has_its_figures_side_by_side() -> None:
    sheet = told("Figures: hello, keep-alive, by ab")
    assert sheet.head[:3] == ["contender", "requests/s", "p99 latency, µs"]
    assert [row[:2] for row in sheet.rows] == [["go", "20,000"], ["node", "9,000"]]


def test_the_original_stands_beside_ours_with_whoever_is_missing() -> None:
    ours, by_ab = [each for each in sheets(analysed()) if "original vs here" in each.title]
    assert ours.title.endswith("vs here: hello, 64 connections, keep-alive")
    assert by_ab.title.endswith("vs here: hello, 64 connections, keep-alive, by ab")
    node, go, ruby = ours.rows
    assert node == ["node", "Node 0.10", "6,900/s", "1x", "10,000/s", "1x", "-", "baseline"]
    assert go[:5] == ["go", "Go 1.1", "66,000/s", "9.57x", "50,000/s"]
    assert go[-1] == "differs"
    assert ruby[3:] == ["1.14x", "-", "-", "-", "none: needs ruby, which is not installed"]


def test_a_figure_that_is_not_there_says_so() -> None:
    plan, fingerprint, runs = study()
    lost = [each for each in runs if (each.trial.contender, each.trial.load.connections) != ("node", 512)]
    (sheet, *_) = [each for each in sheets(analyse(plan, fingerprint, lost)) if "served per second" in each.title]
    assert sheet.rows[1] == ["node", "10,000", "-"]
    assert sheet.sure[1][2] == "Not measured; unknown is not zero."


def test_routes_and_thirds_have_tables() -> None:
    routes = told("Latency of each route: mix")
    assert routes.head[3:5] == ["p50, ms", "p99, ms"]
    assert [(row[1], row[2], row[3][:3], row[5]) for row in routes.rows] == [
        ("instant", "50 %", "2.0", "0 %"),
        ("blocking", "50 %", "1,0", "0 %"),
    ]
    (thirds, *_) = [sheet for sheet in sheets(analysed()) if "third of a server's life" in sheet.title]
    assert thirds.head[1:5] == ["first", "second", "third", "third / first"]


def test_frameworks_on_servers_have_a_row_for_each_runtime() -> None:
    (sheet, *_) = sheets(once.analysed(faceted()))
    assert sheet.head == ["framework on server", "runtime", "64", "512"]
    assert [row[:2] for row in sheet.rows] == [
        ["none on a", "cpython"],
        ["none on a", "pypy"],
        ["none on b", "cpython"],
        ["none on b", "pypy"],
    ]


def test_a_study_that_shows_nothing_reads_as_before() -> None:
    plain = study(shows=[], claims=[], original=None)
    analysis = analyse(*plain)
    assert [sheet.key for sheet in sheets(analysis)] == ["mix-routes"]
    assert lone(analysis)
    assert "claimed" not in rendered(plain)


@pytest.mark.parametrize("width", [60, 80, 140])
def test_the_terminal_says_every_ruling_and_stays_within_its_width(width: int) -> None:
    text = rendered(study(), width)
    assert [line for line in text.splitlines() if len(line) > width and not line.startswith(("  /cache", "Res"))] == []
    flat = " ".join(text.split())
    assert "holds: go is ahead of <b>all</b>" in flat
    assert "does not hold: node is ahead of go" in flat
    assert "cannot tell: ruby is the last" in flat
    assert "ruby was left out: needs ruby, which is not installed" in flat
    assert "does not hold: node is ahead of go In the article: node | <i>flies</i> node serves" in flat
    assert "cannot tell: ruby is the last Our own question: the article does not claim this. ruby was" in flat
    assert (
        "3 claims, 1 of them ours: 1 holds, 1 does not hold, 1 undecided (1 because something is not installed)."
        in flat
    )
    assert "none: needs ruby, which is not installed" in flat
    assert text.isascii()


def test_markdown_has_a_row_for_each_claim_and_no_cell_breaks_out() -> None:
    text = render_markdown(*study(), analysed())
    assert "| claim | here | why |" in text
    assert r"| go is ahead of \<b\>all\</b\> | **holds** | go serves " in text
    assert r"| node is ahead of go<br>*In the article: node \| \<i\>flies\</i\>* | **does not hold** | " in text
    assert "| ruby is the last<br>*Our own question: the article does not claim this.* | **cannot tell** | " in text
    assert r"An article \| of old (2013)" in text
    assert "## Requests served per second against connections: hello, keep-alive" in text


def test_html_has_claims_tables_and_a_chart_for_each_measure() -> None:
    html = shown()
    checker = parsed(html)
    text = " ".join(checker.text)
    assert "What the original claimed" in text
    assert "go is ahead of <b>all</b>" in text  # escaped: as text, not as a tag
    assert "In the article: node | <i>flies</i>" in text
    assert "Our own question: the article does not claim this." in text
    labels = [v for name, v in checker.attributes if name == "aria-label" and not v.startswith("Narrow: ")]
    against = [label for label in labels if label.endswith("against connections")]
    assert len(against) == 4  # requests/s, p99, errors, memory; ab at one number of connections has none
    assert ("href", "#claims") in checker.attributes
    assert ("id", "claims") in checker.attributes


def test_html_has_a_small_chart_for_each_framework_and_server() -> None:
    checker = parsed(page(faceted()))
    labels = [v for name, v in checker.attributes if name == "aria-label" and not v.startswith("Narrow: ")]
    against = [label for label in labels if label.endswith("against connections")]
    assert against == ["none on a against connections", "none on b against connections"]


def test_json_carries_claims_with_their_cases_curves_and_shapes() -> None:
    told = json.loads(render_json(*study(), analysed()))["analysis"]
    assert [claim["ruling"] for claim in told["claims"]] == ["holds", "does not hold", "cannot tell"]
    assert [(claim["quote"], claim["ours"]) for claim in told["claims"]][1:] == [
        ("node | <i>flies</i>", False),
        ("", True),
    ]
    assert told["claims"][0]["cases"][0]["estimate"]["unit"] == "ratio"
    assert {curve["measure"] for curve in told["curves"]} == {"rate", "p99", "errors", "memory"}
    assert {shape["contender"] for shape in told["shapes"]} == {"go", "node", "ruby"}
    assert told["courses"][0]["gain"]["value"] == pytest.approx(1.0, abs=0.05)


@pytest.mark.slow
def test_many_tables_are_told_together() -> None:
    made, fingerprint, runs = study()
    for connections in (1, 2, 4, 8):
        load = msgspec.structs.replace(runs[0].trial.load, connections=connections)
        trials = [msgspec.structs.replace(r.trial, load=load, id=f"{connections}/{r.trial.id}") for r in runs[:6]]
        runs = [*runs, *(msgspec.structs.replace(r, trial=t) for r, t in zip(runs[:6], trials, strict=True))]
    made = msgspec.structs.replace(made, trials=[each.trial for each in runs])
    assert not lone(analyse(made, fingerprint, runs))
    text = rendered((made, fingerprint, runs))
    assert "The ranking of each load: webdyno report FOLDER --format html, or md." in text
    assert "vs best" not in text


def test_iterations_have_a_chart_for_each_runtime_on_one_scale() -> None:
    def course(line: str, *rates: float) -> Course:
        parts = [Estimate(value=rate, low=None, high=None, rounds=1, unit="per_s") for rate in rates]
        return Course(
            workload="page",
            load="16 connections",
            driver="engine",
            contender=f"x-{line}",
            facet="Bottle on Tornado",
            line=line,
            parts=parts,
            gain=None,
        )

    pypy, cpython = iterations([course("pypy", 100, 200, 400), course("cpython", 100, 100, 100)])
    assert "Iterations on pypy" in pypy
    assert "Bottle on Tornado" in cpython
    assert wide(pypy).count(">400<") == wide(cpython).count(">400<") == 1
    assert 'class="line s0"' in pypy


def only_go(**changes: object) -> tuple[Plan, Fingerprint, list[Run]]:
    """The study as a user narrowed it to go."""
    plan, fingerprint, runs = study(**changes)
    trials = [trial for trial in plan.trials if trial.contender == "go"]
    narrowed = msgspec.structs.replace(plan, contenders={"go": plan.contenders["go"]}, trials=trials)
    return narrowed, fingerprint, [each for each in runs if each.trial.contender == "go"]


def test_tables_without_a_figure_are_left_out() -> None:
    titles = [sheet.title for sheet in sheets(analyse(*only_go(skipped=[])))]
    assert any(title.startswith("Requests served per second") for title in titles)
    assert not [title for title in titles if "original vs here" in title]  # its baseline, node, is not there


def test_claims_that_lack_a_contender_are_summed_up_in_one_line() -> None:
    made = only_go()
    analysis = analyse(*made)
    assert [claim.unmeasured for claim in analysis.claims] == [False, True, False]  # of ruby the plan says why
    for form in (render_html(*made, analysis), render_markdown(*made, analysis), rendered(made)):
        assert "node is ahead of go" not in form
        assert "1 claim is about a contender that was not measured." in " ".join(form.split())
    alone = only_go(skipped=[])
    told = render_markdown(*alone, analyse(*alone))
    assert "2 claims are about contenders that were not measured." in told


def graphed(**changes: Any) -> Analysis:
    """The study with graphs of its article: two of its figures and the rate, in an order of their own."""
    titled = [("Requests Served", "rate"), ("RAM Usage", "memory"), ("Errors", "errors")]
    figures = [
        *ORIGINAL.figures,
        OriginalFigure(contender="go", workload="hello", connections=512, measure="memory", value=9),
        OriginalFigure(contender="go", workload="hello", measure="errors", value=0.06, said="under 7 %"),
        OriginalFigure(contender="node", workload="hello", measure="errors", value=0.34),
    ]
    original = msgspec.structs.replace(
        ORIGINAL, graphs=[Graph(title=title, measure=measure) for title, measure in titled], figures=figures
    )
    return analyse(*study(original=original, **changes))


def test_the_graphs_of_the_article_are_drawn_in_its_order_under_its_titles() -> None:
    made = graphed()
    drawn = "".join(chart for curve in made.curves for chart in charts(curve))
    assert re.findall("<h3>(.*?)</h3>", drawn) == ["Requests Served", "RAM Usage", "Errors"]
    assert "Requests served per second: hello, keep-alive" in drawn
    assert wide(drawn).count("against connections") == 3
    assert not [chart for curve in analysed().curves if curve.measure == "rate" for chart in charts(curve)]


def test_what_runs_as_in_the_article_has_the_colours_and_the_others_are_grey() -> None:
    made = graphed(systems=[System(name="Node", contender="node")])
    (rate, *_) = [chart for curve in made.curves for chart in charts(curve)]
    assert 'class="label s0"' in rate
    assert re.findall('class="label s0"[^>]*>(.*?)<', wide(rate)) == ["node"]
    assert 'class="line grey"' in rate
    assert 'class="line grey"' not in charts(graphed().curves[0])[0]


def test_a_figure_of_the_article_without_a_ratio_stands_beside_ours() -> None:
    by_title = {sheet.title.split(" against")[0]: sheet for sheet in sheets(graphed())}
    memory, errors = by_title["Peak memory in MiB"], by_title["Errors, as a share of all requests,"]
    assert memory.head[-1] == errors.head[-1] == "the article"
    assert [row[-1] for row in memory.rows] == ["9.0 MiB at 512", "-"]
    assert [row[-1] for row in errors.rows] == ["under 7 %", "34 %"]
    assert "the article" not in by_title["Requests served per second"].head  # those are beside ours as ratios
    assert all(len(row) == len(sheet.head) == len(sheet.means) for sheet in (memory, errors) for row in sheet.rows)


def test_tables_say_how_rounds_became_one_figure() -> None:
    def says(made: Analysis, title: str) -> str:
        return next(sheet for sheet in sheets(made) if sheet.title.startswith(title)).means[1]

    trimmed = analyse(*study(estimate="trimmed"))
    assert says(trimmed, "Peak memory").endswith("without the highest and the lowest of each contender")
    assert says(trimmed, "Errors").endswith("Shown is the mean over rounds")
    assert says(analysed(), "Peak memory").endswith("Shown is the mean over rounds")
    plan, _, runs = study(estimate="trimmed")
    assert "Figures are the trimmed mean (highest and lowest round dropped)" in course.measured(plan, runs)
    few = msgspec.structs.replace(plan, rounds=2)
    assert "too few to drop the highest and the lowest" in course.measured(few, runs)
