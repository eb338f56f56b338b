"""wrk's own report, where its line for us is missing: the same counts, and latencies to its two decimals."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.analyse.fakes import LOAD
from webdyno.load import wrk
from webdyno.load.order import DriverCommand, Fault, Order
from webdyno.load.wrk_report import Report, read_report
from webdyno.model.sample import Slice
from webdyno.model.workload import Request

GOLDEN = Path(__file__).parent.parent / "golden"
ANSWERED = ["wrk/ok", "wrk/error", "wrk/errors-some", "wrk/reset", "wrk2/ok", "wrk2/errors-some", "wrk2/reset"]


def both(case: str) -> tuple[Report, Report]:
    lines = (GOLDEN / f"{case}.txt").read_text().splitlines()
    ours = read_report("wrk", lines)
    plain = read_report("wrk", [line for line in lines if not line.startswith("{")])
    assert isinstance(ours, Report)
    assert isinstance(plain, Report)
    return ours, plain


@pytest.mark.parametrize("case", ANSWERED)
def test_the_report_for_people_says_what_the_line_for_us_says(case: str) -> None:
    ours, plain = both(case)
    assert (plain.requests, plain.errors) == (ours.requests, ours.errors)
    assert plain.duration_us == pytest.approx(ours.duration_us, rel=0.01)
    assert plain.bytes == pytest.approx(ours.bytes, rel=0.01)
    assert plain.latency_us is not None
    assert ours.latency_us is not None
    for point in ("mean", "max", "p50", "p99"):
        assert plain.latency_us[point] == pytest.approx(ours.latency_us[point], rel=0.01), point


@pytest.mark.parametrize(
    ("took", "duration_us"),
    [("250.00us", 250), ("1.10ms", 1_100), ("1.10s", 1_100_000), ("2.00m", 120_000_000), ("1.50h", 5_400_000_000)],
)
def test_its_report_for_people_has_five_units_of_time(took: str, duration_us: int) -> None:
    lines = (GOLDEN / "wrk/ok.txt").read_text().replace("requests in 1.10s", f"requests in {took}").splitlines()
    plain = read_report("wrk", [line for line in lines if not line.startswith("{")])
    assert isinstance(plain, Report)
    assert plain.duration_us == duration_us


def test_nothing_answered_in_time_is_no_latency() -> None:
    _, plain = both("wrk/slow")
    assert plain.latency_us is None


def test_what_is_no_report_is_a_fault_with_its_last_words() -> None:
    fault = read_report("wrk2", ["unable to connect"])
    assert isinstance(fault, Fault)
    assert fault.message == "wrk2 ended without a result: unable to connect"


def test_more_time_outs_than_answers_make_no_count_negative(monkeypatch: pytest.MonkeyPatch) -> None:
    """wrk counts a time-out for each connection that waits, also where nothing is ever answered."""
    few, _ = both("wrk/ok")
    late = msgspec.structs.replace(few, requests=2, errors=msgspec.structs.replace(few.errors, timeout=5, status=1))
    monkeypatch.setattr(wrk, "read_report", lambda *_: late)
    order = Order(host="127.0.0.1", port=80, requests=[Request(name="a", path="/")], load=LOAD, cores=())
    command = DriverCommand(phase="steady", argv=["wrk"], order=order)
    told = next(iter(wrk.Wrk().read(command, [])))
    assert isinstance(told, Slice)
    assert (told.offered, told.ok, told.errors) == (2, 0, {"timeout": 2})
