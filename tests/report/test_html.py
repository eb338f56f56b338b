"""The HTML report: whole, offline and safe; what a browser makes of it is in tests/browser."""

import re
from html.parser import HTMLParser

import msgspec
import pytest

from tests.analyse.fakes import FINGERPRINT, contender, plan, run, study, workload
from tests.report.once import page
from webdyno.model.run import Run
from webdyno.model.trial import Skipped

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>&lt;"


class Checker(HTMLParser):
    """Every tag closed in its order; tags and attributes collected."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def parsed(html: str) -> Checker:
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert checker.open == []
    return checker


def test_it_is_well_formed_and_every_place_it_links_to_exists() -> None:
    checker = parsed(page(study()))
    ids = [value for name, value in checker.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    assert {value[1:] for name, value in checker.attributes if name == "href" and value[0] == "#"} <= set(ids)


def test_it_needs_no_network_and_has_one_script() -> None:
    html = page(study())
    checker = parsed(html)
    assert not checker.tags & {"link", "iframe", "object", "img"}
    assert html.count("<script") == 1
    outward = [value for name, value in checker.attributes if name in ("src", "href") and not value.startswith("#")]
    assert [value.partition(";")[0] for value in outward] == ["data:text/csv", "data:application/gzip"]
    assert not re.search(r"@import|url\(", html)


def test_it_opens_with_the_answer_and_the_doubts_that_matter() -> None:
    text = " ".join(parsed(page(study())).text)
    assert text.index("it served the most on every workload") < text.index("findings need care") < text.index("Ranking")
    assert "cherrypy ended while under load in 1 of 3 rounds" in text[: text.index("Ranking")]


def test_the_first_ranking_is_open_everywhere_and_a_second_folds_on_a_telephone() -> None:
    html = page(study())
    assert html.count('class="ranking"') == 2
    assert html.count('class="shut"') == 1
    folded = html.index('class="shut"')
    assert html.index('id="table-2"') < folded < html.rindex('class="ranking"')
    assert "Ranking of 14 contenders" in html[folded:]


def test_it_shows_failures_machine_versions_commands_and_how_to_repeat() -> None:
    text = " ".join(parsed(page(study())).text)
    for said in (
        "too few arguments to function",
        "Intel(R) Xeon(R) Platinum 8488C",
        "contender on core 0, driver on core 1",
        "go-nethttp 1.2.3",
        "/cache/wsgiref/bin/wsgiref --bind 127.0.0.1:18080",
        "webdyno run quickstart --seed 7 --rounds 3",
        "actix",
    ):
        assert said in text


def test_text_from_outside_is_never_markup() -> None:
    runs = [
        run(
            EVIL,
            workload=EVIL,
            round_=r,
            latency_ns=None,
            command=[EVIL],
            environment={EVIL: EVIL},
            versions={EVIL: EVIL},
            driver_version=EVIL,
        )
        for r in (1, 2)
    ]
    runs.append(run(EVIL, workload=EVIL, round_=3, outcome="died", message=EVIL, log_tail=EVIL, slices=[]))
    made = plan(
        runs,
        study=EVIL,
        title=EVIL,
        question=EVIL,
        contenders={EVIL: contender(EVIL, model=EVIL)},
        workloads={EVIL: workload(EVIL, title=EVIL)},
        skipped=[Skipped(contender=EVIL, reason=EVIL)],
    )
    machine = msgspec.structs.replace(FINGERPRINT, cpu_model=EVIL, hostname=EVIL, mitigations={EVIL: EVIL})
    html = page((made, machine, runs))
    checker = parsed(html)
    assert "img" not in checker.tags
    assert not any(name.startswith("on") for name, _ in checker.attributes)
    assert html.count("<script") == 1  # the page's own
    assert EVIL in "".join(checker.text)


def test_charts_are_there_with_labels_and_left_out_without_data() -> None:
    html = page(study())
    assert html.count('class="chart"') == 4
    assert html.count('class="chart wide"') == 10
    labels = [value for name, value in parsed(html).attributes if name == "aria-label"]
    assert sum(label.startswith("Latency by percentile") for label in labels) == 2
    part = run().slices[1:2]
    bare = [run(n, round_=r, readings=[], slices=part, memory_peak_bytes=None) for n in "ab" for r in (1, 2)]
    assert 'class="chart' not in page((plan(bare), FINGERPRINT, bare))


def test_few_tables_are_all_open_and_have_no_contents() -> None:
    html = page(study())
    assert '<details class="table"' not in html
    assert 'id="contents"' not in html


@pytest.mark.slow
def test_a_page_with_many_runs_stays_small() -> None:
    assert len(page(study(rounds=4, seconds=20))) < 500_000


@pytest.mark.parametrize("runs", [[], [run(outcome="build-failed", slices=[], readings=[], command=[])], [run()]])
def test_it_copes_with_little(runs: list[Run]) -> None:
    parsed(page((plan(runs), FINGERPRINT, runs)))
