"""`webdyno view` and `--metrics` as commands: how they end, what they refuse, and what a run says beside its store."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import msgspec
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from tests.analyse.fakes import FINGERPRINT, plan, run
from tests.view.serving import made, rounds, trace
from webdyno import now
from webdyno.commands import call
from webdyno.commands.metering import Meter, put
from webdyno.model.errors import MachineError
from webdyno.session.listeners import MOST_SECONDS, Beside, Listeners

RUNS = [run(name, round_=number) for number in (1, 2) for name in ("a", "b")]
PLAN = plan(RUNS)


@pytest.mark.slow
def test_it_says_where_it_is_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    made(tmp_path / "one-1", rounds())
    before = trace(tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-m", "webdyno", "view", str(tmp_path), "--port", "0"],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
    )
    with process:
        assert process.stderr is not None
        said = process.stderr.readline()
        assert said.startswith(f"results in {tmp_path}: http://127.0.0.1:")
        url = said.split()[3]
        with urllib.request.urlopen(url, timeout=60) as page:
            assert b"one-1" in page.read()
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        assert process.wait(timeout=60) == 130
    assert rest == "\nwebdyno: ending cleanly (Ctrl-C again: at once) ...\n"
    assert trace(tmp_path) == before


def test_a_port_that_is_taken_is_one_sentence_and_exit_code_three(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "nice", lambda _: 0)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert call(["view", str(tmp_path), "--port", str(port)]) == 3
    said = capsys.readouterr().err
    assert (
        said == f"webdyno: --port {port} is taken by another program: give another, or --port 0 for any that is free\n"
    )


def test_a_report_in_openmetrics_goes_to_a_file_or_a_pipe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = made(tmp_path / "one", RUNS)
    assert call(["report", str(folder), "--format", "openmetrics"]) == 0
    printed = capsys.readouterr().out
    assert call(["report", str(folder), "-f", "openmetrics", "-o", str(tmp_path / "m.txt")]) == 0
    assert (tmp_path / "m.txt").read_text() == printed
    assert list(text_string_to_metric_families(printed))


def test_the_metrics_of_a_run_grow_with_every_trial_and_are_never_half_a_file(tmp_path: Path) -> None:
    file = tmp_path / "webdyno.prom"
    meter = Meter(file, PLAN, FINGERPRINT, RUNS[:1], clock=lambda: 0.0)
    for number in range(1, 4):
        counted = {family.name: family for family in text_string_to_metric_families(file.read_text())}
        assert sum(sample.value for sample in counted["webdyno_runs"].samples) == number
        assert [path.name for path in tmp_path.iterdir()] == [file.name]
        meter.begin(RUNS[number].trial)
        meter.event(RUNS[number].slices[0])
        meter.end(RUNS[number])


def test_a_metrics_file_that_takes_long_to_write_is_written_less_often(tmp_path: Path) -> None:
    times = iter([0.0, 1.0, 5.0, 20.9, 21.0, 21.0, 21.5])  # it takes a second, so the next is due after twenty more
    file = tmp_path / "webdyno.prom"
    meter = Meter(file, PLAN, FINGERPRINT, RUNS[:1], clock=lambda: next(times))
    texts = [file.read_text()]
    for made_ in RUNS[1:4]:
        meter.end(made_)
        texts.append(file.read_text())
    assert texts[0] == texts[1] == texts[2]
    assert texts[3] != texts[2]


def test_a_metrics_file_that_fails_later_costs_a_note_and_not_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    meter = Meter(folder / "m", PLAN, FINGERPRINT, [], clock=lambda: 0.0)
    (folder / "m").unlink()
    folder.rmdir()
    meter.end(RUNS[0])
    meter.end(RUNS[1])
    said = capsys.readouterr().err
    assert said.startswith(f"note: --metrics {folder}/m cannot be written (No such file or directory)")
    assert said.count("\n") == 1
    with pytest.raises(MachineError):
        put(folder / "m", "")


def test_what_is_in_flight_stands_beside_the_store_and_is_gone_at_the_end(tmp_path: Path) -> None:
    with Beside(tmp_path, PLAN, {RUNS[0].trial.id}) as beside:
        told = Listeners([beside])
        told.event(RUNS[1].slices[0])  # before any Trial: nobody's
        assert now.read(tmp_path) is None
        told.begin([RUNS[1].trial])
        first = now.read(tmp_path)
        assert first is not None
        assert (first.trial, first.done, first.total, first.phase) == (RUNS[1].trial, 1, 4, None)
        assert first.left_s is not None
        for slice_ in RUNS[1].slices:
            told.event(slice_)
        then = now.read(tmp_path)
        assert then is not None
        assert (then.phase, then.warmup, then.steady) == ("steady", [10_000.0], [10_000.0, 10_000.0])
        warmup, steady = RUNS[1].slices[:2]
        told.event(msgspec.structs.replace(warmup, errors={"reset": 3}))
        told.event(msgspec.structs.replace(steady, errors={"reset": 2}))
        assert (after := now.read(tmp_path)) is not None
        assert after.errors == 2  # of this phase
        told.end(RUNS[1])
        told.begin([RUNS[2].trial])
        last = now.read(tmp_path)
        assert last is not None
        assert (last.done, last.steady) == (2, [])
    assert list(tmp_path.iterdir()) == []


def test_a_stretch_of_warm_up_is_drawn_as_long_as_it_took(tmp_path: Path) -> None:
    with Beside(tmp_path, PLAN, set()) as beside:
        beside.begin([RUNS[0].trial])
        warming = RUNS[0].slices[0]
        beside.event(msgspec.structs.replace(warming, duration_ns=3 * 10**9, drained_ns=0, ok=600))
        beside.event(warming)
        found = now.read(tmp_path)
        assert found is not None
        assert found.warmup == [200.0, 200.0, 200.0, 10_000.0]


def test_a_long_trial_keeps_its_last_seconds_and_a_full_disk_keeps_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Beside(tmp_path, None, set()) as beside:
        beside.begin([RUNS[0].trial])
        steady = RUNS[0].slices[1]
        for _ in range(MOST_SECONDS + 5):
            beside.event(steady)
        found = now.read(tmp_path)
        assert found is not None
        assert (len(found.steady), found.total, found.left_s) == (MOST_SECONDS, None, None)
        assert found.left_out == 5
        assert json.loads((tmp_path / now.FILE).read_bytes())["trial"]["contender"] == "a"

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Path, "write_bytes", full)
        beside.event(steady)
