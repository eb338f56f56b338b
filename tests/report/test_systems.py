"""The systems of an article in each form of the report: who runs them, and what differs."""

from __future__ import annotations

from functools import cache

import msgspec

from tests.report.studied import study
from webdyno.analyse import analyse
from webdyno.model.claim import Absent
from webdyno.model.system import System
from webdyno.model.verdict import Analysis
from webdyno.report.html import render_html
from webdyno.report.json import render_json
from webdyno.report.markdown import render_markdown
from webdyno.report.sheets import sheets

SYSTEMS = [
    System(
        name="Node <0.10>",
        contender="node",
        tuned=["go"],
        why="Its Content-Length cannot be taken away",
        article={"Node": "0.10", "processes": "4", "listen queue": "511"},
        here={"Node": "22"},
    ),
    System(name="Go 1.1", contender="go", article={"processes": "1"}),
]
MADE = study(systems=SYSTEMS, absent=[Absent(name="Perl", reason="nobody packages it", instead=["go"])])


@cache
def analysed() -> Analysis:
    return analyse(*MADE)


def test_one_table_has_them_all_in_their_order() -> None:
    (sheet,) = [sheet for sheet in sheets(analysed()) if sheet.key == "systems"]
    assert sheet.rows == [
        [
            "Node <0.10>",
            "node",
            "Node: 22 (article: 0.10); processes: 1 (article: 4). Its Content-Length cannot be taken away",
            "go",
        ],
        ["Go 1.1", "go", "nothing known", ""],
        ["Perl", "-", "nobody packages it", "go"],
    ]
    assert sheet.says.startswith("Only these contenders decide the article's claims")


def test_every_form_of_the_report_has_it() -> None:
    analysis = analysed()
    page = render_html(*MADE, analysis)
    assert "How the article's systems run here" in page
    assert "Node &lt;0.10&gt;" in page
    assert "processes: 1 (article: 4)" in render_markdown(*MADE, analysis)
    told = msgspec.json.decode(render_json(*MADE, analysis))["analysis"]
    assert told["systems"][0]["differs"][0] == {"setting": "Node", "article": "0.10", "here": "22"}
    assert told["systems"][2]["contenders"] == []
