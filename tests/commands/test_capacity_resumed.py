"""``webdyno capacity --resume``: the rates that are left, with a load engine that is a formula; and what it refuses."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from tests.analyse import fakes
from tests.commands.test_capacity import URL, Formula, formula
from webdyno.commands import call
from webdyno.design.rate_search import search_of
from webdyno.load.driver import Order
from webdyno.model.built import Built
from webdyno.model.run import Run
from webdyno.model.sought import Sought
from webdyno.model.trial import Trial
from webdyno.rig.fingerprint import read_fingerprint
from webdyno.session import by_url, loop, searching
from webdyno.session.engine import Loaded
from webdyno.session.ready import Ready
from webdyno.store import Store

__all__ = ["formula"]
SLO = "p99<50ms, errors<0.1%"
SEARCH = ["capacity", URL, "--slo", SLO, "--precision", "4"]


@pytest.fixture
def stopped(formula: Formula, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Path]]:
    """A way to have a search that is stopped by Ctrl-C in its fourth trial; its folder."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def search(*more: str) -> Path:
        def loads(order: Order, watch: Callable[[Any], None], host: object = None) -> Loaded:
            if len(formula.rates) == 3 and order.load.is_open:
                signal.raise_signal(signal.SIGINT)
                watch(fakes.run().slices[0])
            return formula(order, watch)

        with monkeypatch.context() as patch:
            patch.setattr(by_url, "carry_out", loads)
            assert call([*SEARCH, *more]) == 130
        (folder,) = (tmp_path / "results").iterdir()
        return folder

    yield search
    signal.signal(signal.SIGINT, before)


def figures(out: str) -> list[str]:
    """What was printed, but for the folder and what the machine was busy with."""
    return [line for line in out.splitlines() if not line.startswith(("Results: ", "  doubt: the machine was busy"))]


def test_a_search_ends_as_if_it_had_never_been_stopped(
    formula: Formula, stopped: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = stopped()
    said = capsys.readouterr()
    assert said.err.endswith(f"stopped; to go on: webdyno capacity --resume {folder.relative_to(tmp_path)}\n")
    assert call(["capacity", "--resume", str(folder)]) == 0
    resumed, rates = capsys.readouterr().out, list(formula.rates)
    with Store.open(folder) as store:
        assert [run.trial.load.rate_per_s for run in store.runs()] == rates
        assert {trial.id for trial in store.plan().trials} == store.done()
    formula.orders.clear()
    assert call([*SEARCH, "--results", "whole"]) == 0
    assert formula.rates == rates
    assert figures(capsys.readouterr().out) == figures(resumed)
    assert call(["capacity", str(folder)]) == 0  # also when it is only shown again, without --slo
    assert capsys.readouterr().out == resumed


def test_what_is_over_is_told_and_nothing_is_asked(
    formula: Formula, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(SEARCH) == 0
    (folder,) = (tmp_path / "results").iterdir()
    out, asked = capsys.readouterr().out, len(formula.orders)
    assert call(["capacity", "--resume", str(folder)]) == 0
    said = capsys.readouterr()
    assert f"nothing is left to measure in {folder}" in said.err
    assert figures(said.out) == figures(out)
    assert len(formula.orders) == asked


def test_a_secret_header_is_given_again(
    formula: Formula, stopped: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = stopped("-H", "Authorization: open-sesame")
    assert f"--resume results/{folder.name} -H 'Authorization: ...'\n" in capsys.readouterr().err
    assert call(["capacity", "--resume", str(folder)]) == 2
    assert "give it again, -H 'Authorization: ...'" in capsys.readouterr().err
    assert call(["capacity", "--resume", str(folder), "-H", "Authorization: open-sesame"]) == 0
    assert formula.orders[-1].requests[0].headers == [("Authorization", "open-sesame")]
    assert b"open-sesame" not in (folder / "results.sqlite").read_bytes()


def test_a_url_that_somebody_else_chose_is_not_loaded(
    formula: Formula,
    stopped: Callable[..., Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = stopped()
    formula.orders.clear()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
    assert call(["capacity", "--resume", str(folder)]) == 2
    assert f"{folder}: somebody else's, as far as webdyno can tell, and it would run commands (load on {URL}" in (
        capsys.readouterr().err
    )
    assert formula.orders == []
    assert call(["capacity", "--resume", str(folder), "--trust"]) == 0


def test_on_another_machine_it_begins_anew(
    stopped: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = stopped()
    monkeypatch.setattr(by_url, "read_fingerprint", lambda: msgspec.structs.replace(read_fingerprint(), cores=4096))
    assert call(["capacity", "--resume", str(folder)]) == 2
    assert "is 4096 here), and runs of two machines are not compared; start over here: webdyno capacity\n" in (
        capsys.readouterr().err
    )


def test_a_contender_is_built_again_and_searched_on(
    begun_here: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made, rates = fakes.plan([fakes.run("go")], study="capacity", trials=[]), list[float]()
    sought = Sought(
        slo="errors<5%", budget_s=1e9, duration_s=3, warmup_s=0.5, first_per_s=100, most_per_s=400, precision=0.05
    )
    plan = msgspec.structs.replace(made, sought=sought)

    def conduct(trial: Trial, *_: object) -> Run:
        rates.append(trial.load.rate_per_s or 0.0)
        answered = {"offered": 300, "ok": 300, "duration_ns": 10**9, "errors": {}}
        return fakes.run("go", trial=trial, load=trial.load, summary=answered)

    @contextmanager
    def on_its_machine(_: Store, *, wait: bool, far: object = None) -> Iterator[Any]:
        interrupted = SimpleNamespace(is_set=lambda: wait)
        yield SimpleNamespace(interrupted=interrupted, lost="", replace_lost=lambda _: []), {"engine": "1"}

    def build(*_: object) -> Ready:
        built = Built(contender="go", key="k", directory="/", environment={}, versions={}, log="", seconds=0.0)
        return Ready(plan=plan, built={"go": built}, found={}, servers={}, drivers={"engine": "1"})

    driver = SimpleNamespace(version=lambda _: "1", can=fakes.run().driver_can)
    monkeypatch.setattr(loop, "DRIVERS", {"engine": lambda: driver})
    monkeypatch.setattr(loop, "conduct", conduct)
    monkeypatch.setattr(searching, "on_its_machine", on_its_machine)
    monkeypatch.setattr(searching, "there_again", lambda *_: None)
    monkeypatch.setattr(searching, "with_definitions_of", lambda _, known: known)
    monkeypatch.setattr(searching, "build", build)
    with Store.create(tmp_path / "r", plan, fakes.FINGERPRINT) as store:
        ((trial,),) = search_of(plan, sought, [])([])
        store.grow([trial])
        store.append(conduct(trial))
    assert call(["capacity", "--resume", str(tmp_path / "r")]) == 0
    assert rates[:3] == [100, 200, 400]
    assert "at least 400/s; the objectives were met at every rate that was tried\n" in capsys.readouterr().out


@pytest.mark.parametrize("more", [[URL], ["--slo", "p99<5ms"], ["--budget", "9m"], ["-w", "hello"], ["-b", "x"]])
def test_it_takes_no_flag_that_makes_another_search(
    more: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["capacity", *more, "--resume", str(tmp_path)]) == 2
    assert "--resume continues a search as it was begun" in capsys.readouterr().err


def test_another_plan_is_gone_on_with_by_its_own_command(
    stopped: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = stopped()
    for command in ("run", "compare"):
        assert call([command, "--resume", str(folder)]) == 2
        assert f"webdyno capacity --resume {folder} continues" in capsys.readouterr().err
    older = msgspec.structs.replace(fakes.plan([fakes.run()]), study="capacity")
    with Store.create(tmp_path / "older", older, fakes.FINGERPRINT):
        pass
    assert call(["capacity", "--resume", str(tmp_path / "older")]) == 2
    assert "an older webdyno made it, and did not record how to resume it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "complaint"), [([], "capacity of what?"), ([URL], "--slo is missing: write what must be met")]
)
def test_what_is_missing_is_one_sentence(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["capacity", *arguments]) == 2
    assert complaint in capsys.readouterr().err
