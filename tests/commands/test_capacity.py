"""``webdyno capacity``: from flags to a search, from Runs to the answer, with a load engine that is a formula."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.commands.test_load import recorded
from webdyno.commands import call
from webdyno.commands.searching import Searching
from webdyno.commands.slo import objectives
from webdyno.design.rate_search import Asked, goal_of, tried_of
from webdyno.load.driver import Order
from webdyno.model.run import Run
from webdyno.model.sample import Slice
from webdyno.rig.cores import usable_cores
from webdyno.session import by_url
from webdyno.session import odd_answers as first
from webdyno.session.engine import Loaded
from webdyno.store import Store

URL = "http://127.0.0.1:8000/items"


class Formula:
    """Stands in for the engine and the server: the wait is that of a queue that takes ``limit`` requests a second."""

    def __init__(self, limit: float = 1000.0, *, errors: float = 0.0) -> None:
        self.limit, self.errors = limit, errors
        self.orders: list[Order] = []
        self.changes: dict[str, Any] = {}

    def __call__(self, order: Order, watch: object, host: object = None) -> Loaded:
        self.orders.append(order)
        base = recorded("open")
        rate = order.load.rate_per_s or 1.0
        ok = round(rate * 3)
        wrong = round(ok * self.errors)
        p99 = round(1e6 / max(1 - rate / self.limit, 1e-3))
        times = {"mean": p99 / 4, "p50": p99 / 5, "p99": p99, "p99.9": 2 * p99, "max": 3 * p99}
        summary = base.summary | {
            "duration_ns": 3_000_000_000,
            "ended": "duration",
            "offered": ok,
            "ok": ok - wrong,
            "errors": {"wrong-status": wrong, "shed": 0, "unfinished": 0},
            "latency_ns": times,
            "response_ns": times,
            "threads": [{"cpu_share": 0.3}],
        }
        return Loaded(order, base.slices, summary | self.changes)

    @property
    def rates(self) -> list[float]:
        """Those of the trials, in order."""
        return [order.load.rate_per_s for order in self.orders if order.load.rate_per_s]


@pytest.fixture
def formula(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Formula]:
    made = Formula()
    monkeypatch.setattr(by_url, "carry_out", made)
    monkeypatch.setattr(first, "judged", lambda *_: [])
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("WEBDYNO_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    yield made


def test_the_capacity_of_a_url_is_found_and_its_runs_are_kept(
    formula: Formula, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["capacity", URL, "--slo", "p99<50ms, errors<0.1%", "--json", "-H", "A: b"]) == 0
    said = json.loads(capsys.readouterr().out)
    rate = said["capacity"]["rate"]
    assert said["capacity"]["ended"] == "known"
    assert rate["low"] <= 980 <= rate["high"]
    assert rate["high"] - rate["low"] <= 0.11 * rate["value"]
    assert said["sentence"].startswith(f"{URL} under p99<50ms, errors<0.1%: 9")
    assert formula.rates[:5] == [100, 200, 400, 800, 1600]
    with Store.open(tmp_path / said["folder"]) as store:
        runs = store.runs()
        assert [run.trial.load.rate_per_s for run in runs] == formula.rates
        assert [trial.id for trial in store.plan().trials] == [run.trial.id for run in runs]
    assert formula.orders[0].requests[0].headers == [("A", "b")]
    assert {order.cores for order in formula.orders} == {tuple(usable_cores())}
    assert len({run.trial.load.seed for run in runs}) == len(runs)


def test_ctrl_c_ends_the_trial_in_flight_at_its_next_event(
    formula: Formula, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched: list[Slice] = []

    def loads(order: Order, watch: Callable[[Slice], None], host: object = None) -> Loaded:
        signal.raise_signal(signal.SIGINT)
        for slice_ in recorded("open").slices * 3:
            watched.append(slice_)
            watch(slice_)
        return formula(order, watch)

    monkeypatch.setattr(by_url, "carry_out", loads)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert call(["capacity", URL, "--slo", "p99<50ms"]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(watched) == 1
    (folder,) = (tmp_path / "results").iterdir()
    with Store.open(folder) as store:
        assert [run.outcome for run in store.runs()] == ["interrupted"]


def test_between_trials_it_waits_until_one_client_is_served_again(formula: Formula) -> None:
    assert call(["capacity", URL, "--slo", "p99<50ms"]) == 0
    kinds = [order.load.is_open for order in formula.orders]
    assert kinds[:3] == [True, False, True]
    assert formula.orders[1].load.connections == 1


def test_an_earlier_search_is_told_again_also_under_other_objectives(
    formula: Formula, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["capacity", URL, "--slo", "p99<50ms"]) == 0
    first = capsys.readouterr().out
    (folder,) = (tmp_path / "results").iterdir()
    assert call(["capacity", str(folder), "--slo", "p99<50ms"]) == 0
    again = capsys.readouterr().out
    assert again.splitlines()[:-1] == first.splitlines()[:-1]
    assert call(["capacity", str(folder), "--slo", "p99<2ms", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["capacity"]["rate"]["value"] < 800


def test_objectives_that_are_never_met_are_one_sentence_and_exit_code_one(
    formula: Formula, capsys: pytest.CaptureFixture[str]
) -> None:
    formula.errors = 0.5
    assert call(["capacity", URL, "--slo", "errors<0.1%"]) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"{URL} under errors<0.1%: never met, not even at 3.33/s\n")


def test_a_server_quicker_than_the_highest_rate_is_at_least_that(
    formula: Formula, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["capacity", URL, "--slo", "p99<50ms", "--most", "300"]) == 0
    assert "at least 300/s; the objectives were met at every rate that was tried" in capsys.readouterr().out
    assert max(formula.rates) == 300


def test_the_budget_ends_the_search_with_what_is_known(formula: Formula, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["capacity", URL, "--slo", "p99<50ms", "--budget", "0.000001s"]) == 0
    said = capsys.readouterr()
    assert "the budget is spent after 1 trial\n" in said.err
    assert "at least 100/s" in said.out
    assert "use a longer --budget" in said.out


def test_an_unreachable_server_is_said_and_nothing_is_claimed(
    formula: Formula, capsys: pytest.CaptureFixture[str]
) -> None:
    formula.changes = {"ok": 0, "ended": "unreachable"}
    assert call(["capacity", URL, "--slo", "p99<50ms"]) == 1
    said = capsys.readouterr()
    assert f"{URL} cannot be reached" in said.err
    assert "nothing was tried" in said.out
    assert len(formula.rates) == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["waitres", "--slo", "p99<5ms"], "there is no contender 'waitres'; did you mean 'waitress'?"),
        ([URL, "--slo", ""], "--slo is empty"),
        ([URL, "--slo", "rate>5"], "the rate is what is searched"),
        ([URL, "--slo", "p98<5ms"], "is not an objective"),
        ([URL, "--slo", "p99<5ms", "--from", "0"], "--from 0: give requests per second, above 0"),
        ([URL, "--slo", "p99<5ms", "--most", "10"], "--most 10 is below --from 100"),
        ([URL, "--slo", "p99<5ms", "--precision", "99"], "--precision 99: give a share from 0.5% to 50%"),
        ([URL, "--slo", "p99<5ms", "--budget", "soon"], "--budget soon: give a duration"),
        ([URL, "--slo", "p99<5ms", "--max-connections", "0"], "--max-connections 0"),
        ([URL, "--slo", "p99<5ms", "-w", "hello"], "--workload is only for a contender"),
        (["waitress", "--slo", "p99<5ms", "-H", "A: b"], "waitress is a contender"),
        (["waitress", "--slo", "p99<5ms", "-w", "nosuch"], "--workload nosuch: waitress answer"),
    ],
)
def test_a_wrong_call_is_one_sentence(
    arguments: list[str], complaint: str, formula: Formula, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["capacity", *arguments]) == 2
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "results").exists()


def test_the_pool_is_twice_what_the_objective_needs() -> None:
    asked = Asked(
        duration_s=3, warmup_s=0.5, even=False, seed=7, max_connections=None, wanted=objectives("p99<50ms, errors<1%")
    )
    assert asked.load(100, 1).max_connections == 256
    assert asked.load(20_000, 1).max_connections == 2000
    assert asked.load(1e6, 1).max_connections == 4000
    assert (asked.load(100, 2).seed, asked.load(100, 2).timeout_s) == (9, 1.0)
    assert not msgspec.structs.replace(asked.load(100, 2), poisson=False, seed=None).poisson


def run_with(formula: Formula, tmp_path: Path, **changes: Any) -> Run:
    """One trial at 500/s."""
    formula.changes = changes
    assert call(["capacity", URL, "--slo", "p99<50ms", "--from", "500", "--budget", "1ms"]) in (0, 1)
    (folder,) = (tmp_path / "results").iterdir()
    with Store.open(folder) as store:
        return store.runs()[0]


SLOW = {"p50": 1e6, "p99": 90e6}


BUSY = {"threads": [{"cpu_share": 0.95}], "lag_ns": {"p99": 40e6}}


@pytest.mark.parametrize(
    ("changes", "result"),
    [
        ({}, "met"),
        ({"response_ns": SLOW}, "missed"),
        ({"errors": {"shed": 30, "wrong-status": 0}}, "missed"),
        ({"response_ns": SLOW, **BUSY, "started": {"wait": "sleep"}}, "not-offered"),
        ({"response_ns": SLOW, **BUSY, "started": {"wait": "spin"}}, "missed"),
        ({"response_ns": SLOW, **BUSY}, "missed"),  # it may have spun
        ({**BUSY, "started": {"wait": "sleep"}}, "met"),
    ],
)
def test_a_miss_counts_unless_the_generator_was_at_its_end(
    changes: dict[str, Any], result: str, formula: Formula, tmp_path: Path
) -> None:
    run = run_with(formula, tmp_path, **changes)
    assert tried_of(run, objectives("p99<50ms")).result == result


@pytest.mark.parametrize(
    ("idle", "without_core", "result"), [(0.5, 0.0, "missed"), (0.2, 0.4, "not-offered"), (0.1, 0.0, "not-offered")]
)
def test_a_miss_of_a_generator_without_time_says_nothing_of_the_server(
    idle: float, without_core: float, result: str, formula: Formula, tmp_path: Path
) -> None:
    run = run_with(formula, tmp_path, response_ns=SLOW)
    slices = [
        msgspec.structs.replace(
            each, idle_ns=round(idle * each.duration_ns), run_delay_ns=round(without_core * each.duration_ns)
        )
        for each in run.slices
    ]
    run = msgspec.structs.replace(run, slices=slices)
    assert tried_of(run, objectives("p99<50ms")).result == result


@pytest.mark.parametrize(("duration", "lowest"), [("500ms", 20.0), ("3s", 10 / 3), ("1m", 1.0)])
def test_a_rate_at_which_a_trial_has_next_to_no_requests_is_not_asked_for(duration: str, lowest: float) -> None:
    assert goal_of(Searching(duration=duration).sought("p99<1s")).lowest_per_s == lowest
    assert goal_of(Searching(duration=duration, first="0.5").sought("p99<1s")).lowest_per_s == 0.5
