"""``webdyno compare``: from written Runs to a verdict, an exit code and a form; and what a wrong call is told."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from tests.analyse import fakes
from webdyno.commands import call
from webdyno.commands.revising import Revising
from webdyno.model.run import Run
from webdyno.read import default_folder, read_catalogue
from webdyno.store import Store


def runs_of(name: str, rates: Sequence[float], **changes: Any) -> list[Run]:
    """A Run a round."""
    latency = np.full(400, 2e6)
    return [
        fakes.run(name, round_=number, rate=rate, latency_ns=latency, **changes) for number, rate in enumerate(rates, 1)
    ]


def written(folder: Path, runs: Sequence[Run], **plan: Any) -> str:
    """A results folder that holds ``runs``."""
    with Store.create(folder, fakes.plan(runs, **plan), fakes.FINGERPRINT) as store:
        for run in runs:
            store.append(run)
    return str(folder)


def around(rate: float, number: int, spread: float = 0.005, seed: int = 5) -> list[float]:
    rng = np.random.default_rng(seed)
    return [rate * math.exp(step) for step in rng.normal(0, spread, number)]


def paired(folder: Path, head: float, *, pairs: int = 9, spread: float = 0.005, **changes: Any) -> str:
    """A sitting of ``webdyno compare``: base at 10,000/s, head at ``head`` of it."""
    base, other = around(10_000, pairs, spread, 1), around(10_000 * head, pairs, spread, 2)
    runs = [*runs_of("base", base), *runs_of("head", other, **changes)]
    title = "head (fast, 22222222) against base (main, 11111111)"
    return written(folder, runs, study="compare", title=title)


@pytest.mark.parametrize(
    ("head", "spread", "code", "says"),
    [
        (0.9, 0.005, 1, "head (fast, 22222222) is slower than base (main, 11111111): -"),
        (1.1, 0.005, 0, "is faster than base (main, 11111111): +"),
        (1.0, 0.005, 0, "is as fast as base (main, 11111111) within 3.0 %: "),
        (0.97, 0.06, 3, "cannot tell whether head (fast, 22222222) is slower than"),
    ],
)
def test_the_verdict_is_a_sentence_and_an_exit_code(
    head: float, spread: float, code: int, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = paired(tmp_path / "r", head, spread=spread)
    assert call(["compare", folder]) == code
    out = capsys.readouterr().out
    assert says in out.splitlines()[0]
    assert out.splitlines()[0].endswith(", after 9 pairs")
    assert "  p99 " in out
    assert "  noise floor " in out
    assert ("  9 starts of each cannot rule out that up to 28 % of starts are slower" in out) == ("as fast as" in says)


def test_slow_starts_of_head_alone_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base, head = around(10_000, 9, 0.005, 1), around(10_000, 9, 0.005, 2)
    slow = [rate * (0.5 if at in (2, 6) else 1.0) for at, rate in enumerate(head)]
    folder = written(tmp_path / "r", [*runs_of("base", base), *runs_of("head", slow)], study="compare", title="a b")
    assert call(["compare", folder]) == 3
    out = capsys.readouterr().out
    assert "  in 2 pairs head was far slower than in the others, and in none far faster" in out


def test_a_head_that_fails_is_worse_and_its_log_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    died = {"outcome": "died", "message": "ended under load with SIGSEGV", "log_tail": "it hurts\n", "slices": []}
    folder = paired(tmp_path / "r", 1.0, pairs=1, **died)
    assert call(["compare", folder]) == 1
    out = capsys.readouterr().out
    assert "is worse than base (main, 11111111): head failed where base did not" in out
    assert "head failed: died: ended under load with SIGSEGV" in out
    assert "    | it hurts" in out


def test_a_base_that_fails_cannot_be_compared_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [*runs_of("base", [1.0], outcome="never-ready", message="silent", slices=[]), *runs_of("head", [10_000.0])]
    folder = written(tmp_path / "r", runs, study="compare", title="head against base")
    assert call(["compare", folder]) == 3
    assert "is faster or slower than base: base failed" in capsys.readouterr().out


def test_a_head_that_never_serves_is_worse_though_base_does_not_either(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = {"outcome": "exited-at-start", "message": "it ended with exit status 1 before it served", "slices": []}
    runs = [*runs_of("base", [1.0], **gone), *runs_of("head", [1.0], **gone)]
    folder = written(tmp_path / "r", runs, study="compare", title="head against base")
    assert call(["compare", folder]) == 1
    assert "base failed, and so did head" in capsys.readouterr().out
    ours = [*runs[:1], *runs_of("head", [1.0], outcome="driver-failed", message="no", slices=[])]
    assert call(["compare", written(tmp_path / "o", ours, study="compare", title="head against base")]) == 3


def test_what_a_side_was_given_to_warm_up_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [*runs_of("base", around(10_000, 4)), *runs_of("head", around(5_000, 4))]
    warm = [
        msgspec.structs.replace(run, compilers=["V8"], trial=msgspec.structs.replace(run.trial, warmup_s=5.0))
        for run in runs
    ]
    made = {name: fakes.contender(name, warmup_s=5.0) for name in ("base", "head")}
    folder = written(tmp_path / "r", warm, study="compare", title="head against base", contenders=made)
    assert call(["compare", folder]) == 1
    out = capsys.readouterr().out
    assert "head is slower than base: -5" in out
    assert "note: each start of base and head was given 5 s to warm up, because it compiles while it serves" in out


def test_more_errors_are_worse_at_whatever_speed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = runs_of("base", around(10_000, 4))
    for run in runs_of("head", around(12_000, 4)):
        runs.append(fakes.change_slices(run, errors={"wrong-status": 100}))
    folder = written(tmp_path / "r", runs, study="compare", title="head against base")
    assert call(["compare", folder, "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["outcome"], said["tables"][0]["why"]) == ("worse", "head answers more requests with errors")


def test_markdown_is_for_a_pull_request_and_nothing_in_it_is_markup(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [*runs_of("base", around(10_000, 4)), *runs_of("head", around(8_000, 4))]
    folder = written(tmp_path / "r", runs, study="compare", title="head (<b>|x) against base (main)")
    assert call(["compare", folder, "--format", "md"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("### ❌ webdyno: head (\\<b\\>\\|x) against base (main)\n")
    assert "| requests/s | \\-" in out or "| requests/s | -" in out
    assert "hello, 64 connections, keep-alive: base " in out


def test_two_folders_are_compared_table_by_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = written(tmp_path / "a", [*runs_of("go", around(10_000, 6)), *runs_of("js", around(5_000, 6))])
    head = written(tmp_path / "b", [*runs_of("go", around(10_010, 6)), *runs_of("js", around(4_000, 6))])
    assert call(["compare", base, head]) == 1
    out = capsys.readouterr().out
    assert f"{head} is as fast as {base} within 3.0 %" in out
    assert f"{head} is slower than {base}: -2" in out
    assert "  js: hello, 64 connections" in out
    assert "note: measured in two sittings" in out
    assert call(["compare", base, base]) == 0


def test_folders_with_one_contender_each_need_not_agree_on_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = written(tmp_path / "a", runs_of("before", around(10_000, 6)))
    assert call(["compare", base, written(tmp_path / "b", runs_of("after", around(9_000, 6)))]) == 1
    capsys.readouterr()
    other = written(tmp_path / "c", runs_of("after", around(9_000, 6), workload="json"))
    assert call(["compare", base, other]) == 2
    assert "share no contender under the same workload and load" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "compare what?"),
        (["waitress"], "compare what?"),
        (["waitress", "waitress"], "waitress compared with itself"),
        (["waitress", "waitres"], "waitres is neither a results folder nor a contender; did you mean 'waitress'?"),
        (["a", "b", "c"], "compare what?"),
        (["waitress", "flask-waitress", "--margin", "0"], "--margin 0: give a share"),
        (["waitress", "flask-waitress", "--pairs", "3"], "--pairs 3: give 4 to 18"),
        (["waitress", "flask-waitress", "-c", "0"], "--connections 0"),
        (["waitress", "flask-waitress", "--budget", "soon"], "--budget soon: give a duration"),
        (["waitress", "flask-waitress", "--cmd", "x {port}"], "--cmd needs two revisions"),
        (["--rev", "main"], "--rev needs either --cmd"),
        (["--rev", "main", "--cmd", "x {port}"], "--rev is given 1 times"),
        (["--rev", "a", "--rev", "b", "--cmd", "x {port}", "waitress"], "waitress: --rev names what is compared"),
        (["--rev", "a", "--rev", "b", "--contender-file", "x", "--path", "/"], "--path needs --cmd"),
        (["--rev", "a", "--rev", "b", "--contender-file", "x", "-H", "A: b"], "--header needs --cmd"),
        (["waitress", "flask-waitress", "-b", "x"], "--body needs two revisions"),
        (["--rev", "a", "--rev", "b", "--cmd", "x {port}", "--env", "X"], "--env X: write it as NAME=VALUE"),
    ],
)
def test_a_wrong_call_is_one_sentence(
    arguments: list[str],
    complaint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call(["compare", *arguments]) == 2
    assert complaint in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_and_a_contender_are_not_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = written(tmp_path / "a", runs_of("go", [10_000.0]))
    assert call(["compare", folder, "waitress"]) == 2
    assert "is a results folder and the other is not" in capsys.readouterr().err
    assert call(["compare", folder]) == 2
    assert "is not a comparison by itself" in capsys.readouterr().err


def test_two_that_the_load_generator_held_back_are_not_called_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [*runs_of("base", around(10_000, 9, seed=1)), *runs_of("head", around(10_000, 9, seed=2))]
    busy = [fakes.change_slices(run, cpu_user_ns=600_000_000, cpu_system_ns=360_000_000) for run in runs]
    folder = written(tmp_path / "r", busy, study="compare", title="head against base")
    assert call(["compare", folder]) == 3
    assert ": both were limited by something other than themselves" in capsys.readouterr().out


def test_nothing_is_left_in_the_folder_one_stands_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", "/proc")  # where nothing can be made, so that this is all that is done
    assert call(["compare", "waitress", "cheroot"]) == 4
    assert "/proc/webdyno cannot be made" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("flags", "method", "headers", "body"),
    [
        ({}, "GET", [], None),
        ({"header": ["X-Api: 1"], "body": "{}"}, "POST", [("X-Api", "1")], "{}"),
        ({"method": "put", "body": "x", "path": "/items?page=2"}, "PUT", [], "x"),
    ],
)
def test_a_command_is_asked_what_load_would_ask(
    flags: dict[str, Any], method: str, headers: list[tuple[str, str]], body: str | None
) -> None:
    (request,) = Revising(**flags).workload(None, read_catalogue([default_folder()])).requests
    assert (request.method, request.path) == (method, flags.get("path", "/"))
    assert (list(request.headers), request.body) == (headers, body)
