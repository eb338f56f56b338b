"""Second by second: what is drawn of each round, and what is said where nothing was measured."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Any

import msgspec
import numpy as np
import pytest

from tests.analyse.fakes import FINGERPRINT, LOAD, SECOND, START, plan, readings, run, slices
from tests.analyse.turning import MS, block_of
from tests.report.drawn import wide
from tests.report.once import page
from tests.report.test_html import parsed
from webdyno.load.driver import DRIVERS
from webdyno.model.run import Run


def seconds(name: str = "go", round_: int = 1, rate: float = 10_000.0, **changes: Any) -> Run:
    """Ten seconds under load with everything known."""
    made = run(name, rate=rate, round_=round_, load=msgspec.structs.replace(LOAD, duration_s=10.0))
    whole = {
        "slices": slices([rate] * 10, np.linspace(1e6, 5e6, 20_000)),
        "readings": readings(11),
        "steady_end_ns": START + SECOND // 2 + 10 * SECOND,
    }
    return msgspec.structs.replace(made, **(whole | changes))


def html(runs: list[Run]) -> str:
    return page((plan(runs), FINGERPRINT, runs))


def panels(text: str) -> dict[str, str]:
    found = re.findall(r"<figure><figcaption><b>(.*?)</b>.*?(<svg.*?</svg>)</figure>", wide(text), re.S)
    return dict(found)


def failing(made: Run, at: int, errors: int) -> Run:
    parts = [
        msgspec.structs.replace(part, errors={"reset": errors, "unfinished": 3}) if part.index == at else part
        for part in made.slices
    ]
    return msgspec.structs.replace(made, slices=parts)


def test_rate_latency_cpu_and_memory_share_one_axis_and_have_units() -> None:
    drawn = panels(html([seconds(name, r) for name in ("go", "node") for r in (1, 2, 3)]))
    assert list(drawn) == ["Requests/s", "p99 latency", "CPU", "Memory"]
    units = [re.search(r'class="tick" x="2" y="\d+">(.*?)<', chart) for chart in drawn.values()]
    assert [unit and unit[1] for unit in units] == ["requests/s", "ms", "cores", "MiB"]
    ticks = [re.findall(r'text-anchor="middle">([-\d.]+)<', chart) for chart in drawn.values()]
    assert ticks[0] == [str(second) for second in range(11)]
    assert all(each == ticks[0] for each in ticks)
    shades = {re.search(r'class="shade" x="([\d.]+)" y="30" width="([\d.]+)"', chart)[0] for chart in drawn.values()}  # type: ignore[index]
    assert len(shades) == 1
    assert "seconds from the start" in drawn["Memory"]


def test_errors_are_drawn_of_whoever_has_them_and_said_to_be_none_else() -> None:
    assert "Errors/s: none in the steady phase of any round." in html([seconds(round_=r) for r in (1, 2, 3)])
    names = [f"c{at}" for at in range(9)]
    runs = [seconds(name, r, rate=10_000.0 - 900 * at) for r in (1, 2, 3) for at, name in enumerate(names)]
    runs = [failing(one, 4, 500) if one.trial.contender == "c6" else one for one in runs]
    chart = panels(html(runs))["Errors/s"]
    assert "c6" in chart  # seventh of nine: grey elsewhere, here the only line, with its name
    assert chart.count('class="line') == 1
    assert ">500<" in chart or ">600<" in chart


def test_the_middle_round_stands_out_and_the_others_are_faint() -> None:
    runs = [seconds(round_=r, rate=rate) for r, rate in ((1, 9_000.0), (2, 20_000.0), (3, 10_000.0), (4, 11_000.0))]
    chart = panels(html(runs))["Requests/s"]
    assert "go, round 3: 10,000/s" in chart
    (faint,) = re.findall(r'class="faint s0" d="(.*?)"', chart)
    assert faint.count("M") == 3


def test_a_tool_without_a_series_is_named_and_nothing_is_drawn_at_zero() -> None:
    whole = slices([9_000.0])
    runs = [
        seconds(
            name, r, driver_can=DRIVERS["ab"]().can, slices=[msgspec.structs.replace(whole[1], duration_ns=10 * SECOND)]
        )
        for name in ("go", "node")
        for r in (1, 2, 3)
    ]
    runs = [
        msgspec.structs.replace(one, trial=msgspec.structs.replace(one.trial, driver="ab", id=f"ab/{one.trial.id}"))
        for one in runs
    ]
    text = html(runs)
    assert list(panels(text)) == ["CPU", "Memory"]
    for title in ("Requests/s", "Errors/s"):
        assert f"{title}: not known by the second: ab gives one figure for the whole phase." in text


def test_processes_nobody_looked_at_are_said_to_be_unmeasured() -> None:
    text = html([seconds(round_=r, readings=[]) for r in (1, 2, 3)])
    assert list(panels(text)) == ["Requests/s", "p99 latency"]
    assert "CPU: not measured." in text
    assert "Memory: not measured." in text


@pytest.mark.parametrize(("answers", "title"), [(600, "p99 latency"), (60, "p90 latency"), (12, "p50 latency")])
def test_the_percentile_is_one_that_a_second_has_answers_enough_for(answers: int, title: str) -> None:
    parts = slices([float(answers)] * 10, np.linspace(1e6, 5e6, answers * 10))
    assert title in panels(html([seconds(round_=r, slices=parts) for r in (1, 2, 3)]))


def test_memory_counts_what_is_shared_once_where_the_kernel_tells() -> None:
    looks = [
        msgspec.structs.replace(look, pss_bytes=20 * 2**20) if look.role == "contender" else look
        for look in readings(11)
    ]
    known = panels(html([seconds(round_=r, readings=looks) for r in (1, 2, 3)]))["Memory"]
    assert ">20<" in known
    assert ">60<" not in known
    assert ">60<" in panels(html([seconds(round_=r) for r in (1, 2, 3)]))["Memory"]


def test_the_page_stays_well_formed_when_only_one_round_succeeded() -> None:
    parsed(html([seconds(), seconds(round_=2, outcome="died", slices=[], readings=[])]))


def turns_of_three(**changes: Any) -> list[Run]:
    """Three rounds of three contenders; in each block all slow down in its fifth pass."""
    answers = {"go": [1000] * 9, "node": [800] * 9, "waitress": [200] * 9}
    made: list[Run] = []
    for number, factor in ((1, 1.0), (2, 1.1), (3, 1.2)):
        each = {
            name: [round(factor * ok * (0.5 if at == 4 else 1 + 0.04 * (at % 2))) for at, ok in enumerate(given)]
            for name, given in answers.items()
        }
        made += block_of(each, block=number, round_=number, **changes)
    return made


def lines_of(chart: str) -> list[list[tuple[float, float]]]:
    """The points of every line; after the first, a path tells only how far the next is away."""
    found = []
    for path in re.findall(r'class="line[^"]*" d="(.*?)"', chart):
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", path)]
        found.append(list(zip(accumulate(numbers[::2]), accumulate(numbers[1::2]), strict=True)))
    return found


def test_turns_are_drawn_at_their_true_time_since_the_first_of_the_block() -> None:
    runs = turns_of_three(cpu_ms=100.0)
    late = [msgspec.structs.replace(one, slices=_later(one)) if one.trial.contender == "node" else one for one in runs]
    drawn = panels(html(late))
    assert list(drawn) == ["Requests/s", "CPU"]
    by_name = sorted([[x for x, _ in line] for line in lines_of(drawn["Requests/s"])], key=lambda xs: xs[0])
    assert [len(xs) for xs in by_name] == [9, 9, 9]
    first, same, node = by_name
    assert first == same
    second = first[1] - first[0]
    assert [x - at for x, at in zip(node, first, strict=True)] == pytest.approx([0.2 * second] * 9, abs=0.3)
    assert "seconds from the first turn of the block" in drawn["CPU"]
    assert ">1<" in drawn["CPU"]


def _later(one: Run) -> list[Any]:
    return [
        msgspec.structs.replace(part, start_ns=part.start_ns + 200 * MS) if part.turn is not None else part
        for part in one.slices
    ]


def test_the_same_round_of_all_stands_out_so_that_what_they_met_is_seen_in_all() -> None:
    chart = panels(html(turns_of_three()))["Requests/s"]
    assert set(re.findall(r", round (\d): ", chart)) == {"2"}


def test_latency_and_memory_of_turns_are_said_and_not_drawn() -> None:
    text = html(turns_of_three())
    assert "Latency: not shown turn by turn, because a turn is a burst;" in text
    assert "Memory: not sampled in turns; its peak is in the table." in text
    assert "Turn by turn" in text
    assert "Second by second" not in text


def test_a_histogram_in_a_turn_is_never_drawn() -> None:
    runs = [
        msgspec.structs.replace(
            one, slices=[msgspec.structs.replace(part, latency_hdr=one.slices[-1].latency_hdr) for part in one.slices]
        )
        for one in turns_of_three()
    ]
    assert "latency" not in " ".join(panels(html(runs)))


def test_errors_of_turns_stand_in_their_turn() -> None:
    runs = turns_of_three()
    assert "Errors/s: none in the turns of any round." in html(runs)
    runs = [failing(one, 4, 50) if one.trial.contender == "node" else one for one in runs]
    (line,) = lines_of(panels(html(runs))["Errors/s"])
    (peak,) = [x for x, y in line if y == min(y for _, y in line)]
    assert peak == pytest.approx((line[0][0] + line[-1][0]) / 2, abs=0.3)  # the fifth of nine


def test_beside_turns_those_measured_alone_keep_their_own_zero_and_it_is_said() -> None:
    runs = [*turns_of_three(), *(seconds("alone", r) for r in (1, 2, 3))]
    runs = [
        msgspec.structs.replace(one, trial=msgspec.structs.replace(one.trial, load=runs[-1].trial.load)) for one in runs
    ]
    drawn = panels(html(runs))
    assert "p99 latency" in drawn
    assert "Only for contenders measured alone" in html(runs)
    assert "for those measured alone, from the start of the steady phase" in drawn["Memory"]
