"""Speed and latency against the load, for every study that has such tables; and speed beside its price."""

from __future__ import annotations

import re

import msgspec
import numpy as np

from tests.analyse.fakes import FINGERPRINT, LOAD, plan, readings, run
from tests.report.drawn import wide
from tests.report.once import page
from tests.report.studied import faceted, rounds, study
from tests.report.test_html import parsed
from webdyno.model.load import Load
from webdyno.model.run import Run
from webdyno.report.charts import palettes


def at(connections: int, **changes: object) -> Load:
    return msgspec.structs.replace(LOAD, connections=connections, **changes)


def html(runs: list[Run]) -> str:
    return page((plan(runs), FINGERPRINT, runs))


def chart(text: str, label: str) -> str:
    (found,) = re.findall(rf'<svg[^>]*aria-label="{label}".*?</svg>', text, re.S)
    return str(found)


def test_a_study_that_asks_for_no_curves_has_them_where_two_loads_differ_in_connections_alone() -> None:
    runs = [
        each for c, rate in ((8, 9_000), (64, 20_000)) for n in ("go", "node") for each in rounds(n, rate, load=at(c))
    ]
    text = html(runs)
    drawn = chart(text, "Requests/s against connections")
    assert ">8<" in drawn
    assert ">64<" in drawn
    assert drawn.count('class="band s') == 2
    assert "p99 latency against connections" in text
    assert "In colour: the first five and the last" in text


def test_loads_that_differ_in_more_are_not_joined() -> None:
    runs = [*rounds("go", 9_000, load=at(8)), *rounds("go", 5_000, load=at(64, keep_alive=False))]
    assert "against connections" not in html(runs)


def test_without_intervals_there_is_no_band() -> None:
    runs = [run("go", load=at(c), rate=1_000.0 * c) for c in (8, 64)]
    assert 'class="band' not in chart(html(runs), "Requests/s against connections")


def test_an_open_load_stands_against_the_rate_that_was_asked() -> None:
    runs = []
    for rate in (500.0, 2_000.0):
        load = msgspec.structs.replace(LOAD, rate_per_s=rate, max_connections=200)
        runs += rounds("go", rate, load=load)
    text = html(runs)
    drawn = chart(text, "Answered against requested rate")
    assert "requests/s sent" in drawn
    assert ">500<" in drawn
    assert ">2k<" in drawn
    assert "hello, over 64 to 200 connections, keep-alive" in text


def test_a_curve_is_drawn_in_one_place_only() -> None:
    labels = [value for name, value in parsed(wide(page(study()))).attributes if name == "aria-label"]
    against = [label for label in labels if label.endswith("against connections")]
    assert sorted(against) == [
        "Errors, as a share of all requests against connections",
        "Peak memory against connections",
        "Requests/s against connections",
        "p99 latency against connections",
    ]
    assert 'id="against"' not in page(faceted())


def test_a_contender_keeps_its_colour_from_chart_to_chart() -> None:
    names = [f"c{at}" for at in range(9)]
    first, other, few = palettes([names, [*names[::-1]], ["c8", "c0"]])
    assert list(first) == ["c0", "c1", "c2", "c3", "c4", "c8"]
    assert list(other) == ["c8", "c7", "c6", "c5", "c4", "c0"]
    assert (other["c8"], other["c4"], other["c0"]) == (first["c8"], first["c4"], first["c0"])
    assert sorted(other.values()) == [0, 1, 2, 3, 4, 5]
    assert few == {"c8": first["c8"], "c0": first["c0"]}


def test_work_for_a_core_second_and_a_mib_stands_beside_speed_with_intervals() -> None:
    runs = [
        run(name, round_=r, rate=rate * noise, readings=readings(3, contender=0.5), memory_peak_bytes=memory)
        for r, noise in ((1, 1.0), (2, 1.01), (3, 0.99))
        for name, rate, memory in (("go", 10_000.0, 10 * 2**20), ("node", 5_000.0, 50 * 2**20))
    ]
    text = html(runs)
    (table,) = re.findall(r'<table class="work">.*?</table>', text, re.S)
    go, node = (re.sub(r"<[^>]+>", " ", row).split() for row in re.findall(r"<tr><td>.*?</tr>", table, re.S))
    assert go[:4] == ["go", "10,000", "0.50", "20,000"]
    assert go[-2] == "1,000"
    assert node[:4] == ["node", "5,000", "0.50", "10,000"]
    assert node[-2] == "100"
    assert re.findall(r'style="width:([\d.]+)%"', table) == ["100.0", "100.0", "50.0", "10.0"]


def test_work_is_left_out_where_neither_cpu_nor_memory_was_measured() -> None:
    runs = [run(round_=r, readings=[], memory_peak_bytes=None) for r in (1, 2, 3)]
    assert "CPU and memory beside speed" not in html(runs)


def test_names_in_a_crowd_never_lie_on_each_other() -> None:
    runs = [
        run(f"contender-{at}", round_=r, rate=10_000.0 + at, memory_peak_bytes=60_000_000 + 1000 * at)
        for r in (1, 2, 3)
        for at in range(30)
    ]
    drawn = chart(html(runs), "Requests per second against peak memory, one point for each contender")
    shown = re.findall(r'class="label grey" x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)">([^<]+)<', drawn)
    boxes = []
    for x, y, anchor, name in shown:
        width = 6.4 * len(name)
        left = float(x) - (width if anchor == "end" else width / 2 if anchor == "middle" else 0)
        boxes.append((left, float(y) - 10, left + width, float(y) + 2))
    pairs = [(one, other) for at, one in enumerate(boxes) for other in boxes[at + 1 :]]
    assert not [
        p for p in pairs if p[0][0] < p[1][2] - 0.2 and p[1][0] < p[0][2] - 0.2 and abs(p[0][1] - p[1][1]) < 11.8
    ]
    assert f"{24 - len(shown)} grey names left out: no room" in drawn


def test_latency_at_an_open_pace_is_counted_from_due() -> None:
    load = msgspec.structs.replace(LOAD, rate_per_s=2_000.0, max_connections=200)
    sent, due = np.full(200, 1e6), np.full(200, 80e6)
    waited = [part.latency_hdr for part in run(latency_ns=due).slices]
    runs = [run(round_=r, load=load, latency_ns=sent) for r in (1, 2, 3)]
    runs = [
        msgspec.structs.replace(
            one,
            slices=[msgspec.structs.replace(p, response_hdr=w) for p, w in zip(one.slices, waited, strict=True)],
        )
        for one in runs
    ]
    text = html(runs)
    assert "go: p50 80" in chart(text, "Latency by percentile, one line for each contender")
    assert "counted from when a request was due" in text
    assert "open loop" in text
