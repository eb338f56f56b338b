"""Whatever a contender, its log, a study or a machine says stays text: in the page, in Markdown and in charts."""

from __future__ import annotations

import re
import shlex
from xml.etree import ElementTree

import msgspec
import numpy as np
import pytest

from tests.analyse.fakes import FINGERPRINT, LOAD, PROBE, change_slices, contender, plan, run, workload
from tests.report.test_html import parsed
from webdyno.analyse import analyse
from webdyno.model.claim import Claim, Original, OriginalFigure
from webdyno.model.doubt import Doubt
from webdyno.model.limit import Limit
from webdyno.model.rig import Fingerprint
from webdyno.model.run import Loss, Run
from webdyno.model.service import Backing
from webdyno.model.trial import Plan, Skipped
from webdyno.model.verdict import Analysis, Standing
from webdyno.report.axis import straight
from webdyno.report.html import render_html
from webdyno.report.markdown import render_markdown
from webdyno.report.svg import Dot, Frame, Series, lines, scatter

EVILS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'><svg onload=alert(1)>",
    "</style></title></pre></svg><script>alert(1)</script>",
    "&lt;script&gt;alert(1)&lt;/script&gt; & <b>",
    "]]><!-- <a href=javascript:alert(1)>x</a> | `code` ``` [x](javascript:alert(1))",
)


def told(evil: str) -> tuple[Plan, Fingerprint, list[Run], Analysis]:
    """A study in which every text that comes from outside is ``evil``."""
    other = f"{evil}2"
    latency = np.linspace(1e6, 9e6, 5_000)
    runs = [
        change_slices(
            run(
                name,
                workload=evil,
                round_=r,
                rate=rate * (1 + r / 100),
                load=msgspec.structs.replace(LOAD, connections=connections),
                latency_ns=latency,
                command=[evil, f"--bind={evil}"],
                environment={evil: evil},
                versions={evil: evil},
                driver_version=evil,
                probe=msgspec.structs.replace(PROBE, header=evil),
                service=Backing(service=evil, kind=evil, version=evil, way="program", genuine=evil),
                notes=[evil],
                gil_modules=[evil],
                losses=[Loss(pid=7, name=evil, line=evil)],
                message=evil,
            ),
            errors={evil: 700},
        )
        for name, rate in ((evil, 9_000.0), (other, 4_000.0))
        for connections in (1, 8, 64, 256)
        for r in (1, 2, 3)
    ]
    runs.append(run(evil, workload=evil, round_=4, outcome="died", message=evil, log_tail=f"{evil}\n{evil}", slices=[]))
    made = plan(
        runs,
        study=evil,
        title=evil,
        question=evil,
        shows=["p99", "errors", "memory", "iterations"],
        contenders={name: contender(name, server=evil, model=evil, workers="cores") for name in (evil, other)},
        workloads={evil: workload(evil, title=evil)},
        skipped=[Skipped(contender=evil, reason=evil), Skipped(contender="", workloads=[evil], reason=evil)],
        claims=[Claim(text=evil, contenders=[evil], relation="highest", workload=evil)],
        original=Original(
            source=evil,
            year=2013,
            baseline=other,
            figures=[
                OriginalFigure(contender=n, workload=evil, connections=64, value=9, as_named=evil)
                for n in (evil, other)
            ],
        ),
        arguments=[evil, "-k", evil],
    )
    changes = {field: evil for field, value in msgspec.structs.asdict(FINGERPRINT).items() if isinstance(value, str)}
    machine = msgspec.structs.replace(FINGERPRINT, mitigations={evil: evil}, **changes)
    return made, machine, runs, _doubted(analyse(made, machine, runs), evil)


def _doubted(analysis: Analysis, evil: str) -> Analysis:
    """With every sentence of the analysis, its doubts and its limits evil."""
    doubt = Doubt(kind="evil", severity="shades", subject=evil, sentence=evil, advice=evil)

    def worse(standing: Standing) -> Standing:
        return msgspec.structs.replace(standing, doubts=[doubt], limits=[Limit(kind="cpu", says=evil, numbers={})])

    verdicts = [
        msgspec.structs.replace(v, sentence=evil, doubts=[doubt], standings=[worse(s) for s in v.standings])
        for v in analysis.verdicts
    ]
    return msgspec.structs.replace(
        analysis,
        sentence=evil,
        verdicts=verdicts,
        doubts=[doubt],
        recommended=evil,
        recommended_command=[evil],
        scalings=[
            msgspec.structs.replace(s, sentence=evil, refused=refused)
            for s in analysis.scalings
            for refused in (None, evil)
        ],
    )


TAGS = {"svg", "path", "line", "rect", "text", "tspan", "title"}


@pytest.mark.parametrize("evil", EVILS)
def test_the_page_gains_no_tag_attribute_or_link_and_shows_it_as_text(evil: str) -> None:
    html = render_html(*told(evil))
    checker = parsed(html)
    harmless = parsed(render_html(*told("harmless")))
    # a name too long for one line of a chart has further ones
    assert checker.tags - {"tspan"} == harmless.tags - {"tspan"}
    assert {name for name, _ in checker.attributes} - {"dy"} == {name for name, _ in harmless.attributes} - {"dy"}
    assert "<script>alert" not in html
    assert not [name for name, _ in checker.attributes if name.startswith("on") or name == "src"]
    assert {value[:5] for name, value in checker.attributes if name == "href" and value[0] != "#"} == {"data:"}
    texts = "".join(checker.text)
    assert texts.count(evil) > 50
    assert html.count("</style>") == html.count("</head>") == 1


@pytest.mark.parametrize("evil", EVILS)
def test_markdown_escapes_it_outside_fences_and_no_fence_ends_early(evil: str) -> None:
    text = render_markdown(*told(evil))
    outside = re.sub(r"^(`{3,})\n.*?\n\1$", "", text, flags=re.S | re.M)
    assert not re.search(r"(?<!\\)[<>]", outside)
    assert not re.search(r"(?<!\\)&(?=\w+;)", outside)
    tables = re.findall(r"(?:^\|.*\n)+", outside, re.M)
    assert len(tables) > 4
    for table in tables:
        widths = {len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}
        assert len(widths) == 1


@pytest.mark.parametrize("evil", EVILS)
def test_charts_are_well_formed_with_it_as_a_name(evil: str) -> None:
    axis = straight(evil, [10.0], lambda value: f"{value:g}{evil}")
    frame = Frame(axis, axis, 560, 330, shade=(0.0, 2.0, evil))
    points = [(1.0, 2.0), (4.0, 8.0)]
    series = [Series(evil, points, style=0, hint=evil, marked=points), Series(evil, points, named=True)]
    dots = [Dot(evil, (3.0, 3.0), style=0, hint=evil), Dot(evil, (8.0, 8.0), hint=evil)]
    for drawn in (lines(frame, series, evil), scatter(frame, dots, evil)):
        root, narrow = ElementTree.fromstring(f"<both>{drawn}</both>")
        assert {element.tag for element in (*root.iter(), *narrow.iter())} <= TAGS
        assert (root.get("aria-label"), narrow.get("aria-label")) == (evil, f"Narrow: {evil}")
        assert evil in {element.text for element in root.iter("title")}


def test_the_command_that_repeats_it_is_quoted_for_a_shell() -> None:
    evil = "a b'; rm -rf $HOME #"
    html = render_html(*told(evil))
    (section,) = re.findall(r'<section><h3 id="again">.*?</section>', html, re.S)
    command = "".join(parsed(re.findall(r"<pre>.*?</pre>", section, re.S)[0]).text)
    assert shlex.split(command)[:5] == ["webdyno", "run", evil, "-k", evil]
