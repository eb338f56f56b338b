"""``webdyno load``: from flags to an Order, and from what the engine said to each form of the result."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.analyse import fakes
from tests.analyse.fakes import change_slices
from webdyno.analyse import analyse
from webdyno.analyse.window import read_window
from webdyno.commands import call
from webdyno.commands import load as command
from webdyno.commands.loading.summary import summary_lines
from webdyno.histogram import encode
from webdyno.load.ab import Ab
from webdyno.load.driver import DriverCommand, Order, Summary, Tls, Way
from webdyno.load.engine import Engine
from webdyno.load.wrk import Wrk
from webdyno.load.wrk2 import Wrk2
from webdyno.model.load import Load, Stage
from webdyno.model.sample import Route, Slice
from webdyno.session.engine import Loaded
from webdyno.session.load_doubts import doubts
from webdyno.store import Store

GOLDEN = Path(__file__).parent.parent / "golden" / "engine"
URL = "http://127.0.0.1:8000"


def recorded(case: str) -> Loaded:
    """What the real engine once said."""
    order = msgspec.json.decode((GOLDEN / f"{case}.order.json").read_bytes(), type=Order)
    events = list(
        Engine().read(
            DriverCommand(phase=None, argv=[], order=order), (GOLDEN / f"{case}.txt").read_text().splitlines()
        )
    )
    slices = [event for event in events if isinstance(event, Slice)]
    assert isinstance(events[-1], Summary)
    return Loaded(order, slices, events[-1].fields)


@pytest.fixture
def ordered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Order]:
    """Orders that would have gone to the engine, in a webdyno that was never calibrated."""
    found: list[Order] = []

    def carried_out(order: Order, watch: object, **_: object) -> Loaded:
        found.append(order)
        return recorded("timed")

    monkeypatch.setattr(command, "carry_out", carried_out)
    monkeypatch.setenv("WEBDYNO_CACHE", str(tmp_path))
    return found


def load_of(**changes: Any) -> Load:
    return Load(**({"connections": 64, "duration_s": 10.0, "warmup_s": 0.0} | changes))


OPEN = {"connections": 64, "max_connections": 640}


@pytest.mark.parametrize(
    ("flags", "load"),
    [
        ("", load_of()),
        ("-c 8 -d 2s --warmup 1s --timeout 3s", load_of(connections=8, duration_s=2.0, warmup_s=1.0, timeout_s=3.0)),
        ("--warmup 2s --opening 1s", load_of(warmup_s=2.0, opening_s=1.0)),
        ("-n 100 --close", load_of(count=100, duration_s=None, keep_alive=False)),
        ("-r 500", load_of(rate_per_s=500.0, **OPEN)),
        ("-r 500 --poisson --seed 3 --drain 1s", load_of(rate_per_s=500.0, poisson=True, seed=3, drain_s=1.0, **OPEN)),
        ("--burst 100/50ms -d 1s", load_of(burst_size=100, burst_every_s=0.05, duration_s=1.0, **OPEN)),
        ("--pipeline 16", load_of(pipeline=16)),
        ("--http2 --streams 10", load_of(http="2", streams=10)),
        ("--http1.0", load_of(http="1.0")),
        ("-c 8 --drivers 4", load_of(connections=8, drivers=4)),
    ],
)
def test_flags_make_this_load(flags: str, load: Load, ordered: list[Order]) -> None:
    assert call(["load", URL, *flags.split()]) == 0
    assert ordered[0].load == load


@pytest.mark.parametrize(
    ("stages", "load"),
    [
        (
            "10s:100, 30s:100-1000",
            load_of(
                duration_s=40.0,
                rate_stages=(
                    Stage(duration_s=10, first=100, last=100),
                    Stage(duration_s=30, first=100, last=1000),
                ),
                **OPEN,
            ),
        ),
        (
            "10s:0-100 connections",
            load_of(connections=100, connection_stages=(Stage(duration_s=10, first=0, last=100),)),
        ),
    ],
)
def test_stages_make_this_load(stages: str, load: Load, ordered: list[Order]) -> None:
    assert call(["load", URL, "--stages", stages]) == 0
    assert ordered[0].load == load


def test_the_way_to_the_server(ordered: list[Order], tmp_path: Path) -> None:
    pem = tmp_path / "ca.pem"
    pem.write_text("-----BEGIN CERTIFICATE-----\n")
    flags = ["--cacert", str(pem), "--server-name", "shop", "--no-resume", "--source", "127.0.0.2,127.0.0.3"]
    flags += ["--linger", "reset", "--backend", "epoll", "--connect-timeout", "1s", "-t", "1", "--cpus", "0"]
    assert call(["load", "https://127.0.0.1/", *flags]) == 0
    (order,) = ordered
    assert (order.host, order.port, order.connect_timeout_s, order.cores) == ("127.0.0.1", 443, 1.0, (0,))
    tls = Tls(roots_pem="-----BEGIN CERTIFICATE-----\n", server_name="shop", resume=False)
    assert order.way == Way(tls=tls, sources=("127.0.0.2", "127.0.0.3"), linger="reset", backend="epoll")


def test_urls_of_one_server_are_routes_with_weights(ordered: list[Order]) -> None:
    urls = [f"9={URL}/", f"{URL}/slow?x=1", f"2={URL}/"]
    assert call(["load", *urls, "-X", "post", "-H", "A: b", "-b", "{{counter}}", "--template", "--seed", "4"]) == 0
    routes = [(request.name, request.path, request.weight, request.body) for request in ordered[0].requests]
    assert routes == [("POST /", "/", 11, "{{counter}}"), ("POST /slow?x=1", "/slow?x=1", 1, "{{counter}}")]
    assert ordered[0].requests[0].headers == [("A", "b")]
    assert (ordered[0].way.template, ordered[0].way.template_seed) == (True, 4)


def test_a_file_of_requests_is_asked_of_the_urls_server(ordered: list[Order], tmp_path: Path) -> None:
    file = tmp_path / "mix.toml"
    file.write_text(
        '[[requests]]\nname = "list"\npath = "/a"\nweight = 3\n\n'
        '[[requests]]\nname = "buy"\npath = "/b"\nmethod = "POST"\nexpect = { statuses = [201] }\n'
    )
    assert call(["load", URL, "--requests-file", str(file), "-H", "A: b"]) == 0
    assert [(r.name, r.weight, r.headers) for r in ordered[0].requests] == [
        ("list", 3, [("A", "b")]),
        ("buy", 1, [("A", "b")]),
    ]
    file.write_text('[[requests]]\nname = "list"\npath = "a"\n')
    assert call(["load", URL, "--requests-file", str(file)]) == 2


@pytest.mark.parametrize(
    ("rules", "fields"),
    [
        ([], {"statuses": list(range(200, 400))}),
        (["status==204"], {"statuses": [204]}),
        (["status in 200,300-302"], {"statuses": [200, 300, 301, 302]}),
        (['body contains "a b"', "length==13"], {"body_contains": "a b", "body_length": 13}),
        (["body contains it's", "type==text/plain"], {"body_contains": "it's", "content_type": "text/plain"}),
        (['body == "x\\n"'], {"body": "x\n"}),
        (["sha256==" + "A" * 64], {"body_sha256": "a" * 64}),
    ],
)
def test_rules_make_this_expectation(rules: list[str], fields: dict[str, Any], ordered: list[Order]) -> None:
    flags = [word for rule in rules for word in ("--expect", rule)]
    assert call(["load", URL, *flags]) == 0
    found = msgspec.to_builtins(ordered[0].requests[0].expect)
    assert {key: found[key] for key in fields} == fields


@pytest.mark.parametrize("case", ["ok", "errors-some", "reset.close", "open"])
def test_the_form_of_wrk_is_read_by_our_driver_of_wrk(case: str) -> None:
    loaded = recorded(case)
    for style, driver in (("wrk", Wrk()), ("wrk2", Wrk2())):
        lines = list(command.STYLES[style](URL, loaded))
        slice_, _ = driver.read(DriverCommand(phase="steady", argv=[], order=loaded.order), lines)
        assert isinstance(slice_, Slice)
        assert (slice_.ok, slice_.offered) == (loaded.summary["ok"], loaded.summary["offered"])
        assert sum(slice_.errors.values()) == sum(loaded.errors.values())
        assert slice_.duration_ns == pytest.approx(loaded.summary["duration_ns"], rel=0.01)
        assert slice_.latency_ns is not None
        assert loaded.response is not None
        assert slice_.latency_ns["p99"] == pytest.approx(loaded.response.percentile(99), rel=0.01)


@pytest.mark.parametrize("case", ["ok", "errors-some", "reset.close", "open"])
def test_the_form_of_ab_is_read_by_our_driver_of_ab(case: str) -> None:
    loaded = recorded(case)
    lines = list(command.STYLES["ab"](URL, loaded))
    slice_, summary = Ab().read(DriverCommand(phase="steady", argv=[], order=loaded.order), lines)
    assert isinstance(slice_, Slice)
    assert isinstance(summary, Summary)
    assert (slice_.ok, slice_.offered) == (loaded.summary["ok"], loaded.summary["offered"])
    assert slice_.bytes_in == loaded.summary["bytes_in"]
    assert slice_.duration_ns == pytest.approx(loaded.summary["duration_ns"], abs=500_000)


def test_the_form_of_oha_has_every_status_and_error() -> None:
    text = "\n".join(command.STYLES["oha"](URL, recorded("silence")))
    assert "  [200] 995 responses" in text
    assert "  [5] timeout" in text
    assert "Success rate:\t99.50%" in text


def test_csv_has_a_row_for_each_slice_and_each_route(
    ordered: list[Order], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded = recorded("ok")
    route = Route(name="GET /a, b", offered=2, ok=1, errors={"timeout": 1}, bytes_in=3)
    loaded.slices = [msgspec.structs.replace(slice_, routes=[route]) for slice_ in loaded.slices]
    monkeypatch.setattr(command, "carry_out", lambda order, watch, **_: loaded)
    assert call(["load", URL, "--csv"]) == 0
    whole, part = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert (whole["route"], whole["ok"], whole["errors_timeout"]) == ("", "1000", "0")
    assert int(whole["latency_p99_ns"]) == loaded.summary["latency_ns"]["p99"]
    assert (part["route"], part["offered"], part["errors_timeout"]) == ("GET /a, b", "2", "1")
    assert (part["connections_opened"], part["latency_p99_ns"]) == ("", "")


def test_json_has_the_keys_that_stay(ordered: list[Order], capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["load", URL, "--json", "--slo", "rate>1"]) == 0
    said = json.loads(capsys.readouterr().out)
    keys = "url urls load rate_per_s errors response_ns routes summary slices doubts slo_missed"
    assert said.keys() == set(keys.split())


def test_a_histogram_log_tells_response_from_service_times(tmp_path: Path, ordered: list[Order]) -> None:
    from webdyno.commands.loading.table import write_hdr

    write_hdr(tmp_path / "x.hlog", URL, recorded("open"))
    lines = [line for line in (tmp_path / "x.hlog").read_text().splitlines() if line[0] not in '#"']
    assert [line.startswith("Tag=service,") for line in lines] == [False, True]


def test_a_missed_objective_and_no_right_answer_are_exit_code_one(
    ordered: list[Order], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["load", URL, "--slo", "p50<1us"]) == 1
    assert "slo         p50<1us: missed" in capsys.readouterr().out
    monkeypatch.setattr(command, "carry_out", lambda order, watch, **_: recorded("error"))
    assert call(["load", URL]) == 1
    assert "errors      wrong-status 1,000  (100 %)" in capsys.readouterr().out


def test_a_server_that_hangs_misses_its_objective_and_is_doubted(
    ordered: list[Order], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """500 quick answers, then none: every percentile is quick, and 4 of 504 requests are open."""
    good = recorded("ok")
    nothing = {"ok": 0, "offered": 4, "bytes_in": 0, "errors": {"unfinished": 4}, "ttfb_hdr": None}
    last = msgspec.structs.replace(good.steady[-1], duration_ns=10**9, unfinished_hdr=encode({2 * 10**9: 4}), **nothing)
    hung = Loaded(good.order, [*good.slices, last], good.summary | {"duration_ns": 2 * 10**9})
    monkeypatch.setattr(command, "carry_out", lambda order, watch, **_: hung)
    assert call(["load", URL, "--slo", "p99<1s"]) == 1
    said = capsys.readouterr().out
    assert "doubt       hung: no request was answered in the last 1.00 s, while 4 requests waited" in said
    assert "slo         missed, no request was answered in the last 1.00 s" in said
    assert call(["load", URL]) == 0
    never = Loaded(good.order, [last], good.summary | {"ok": 0})
    assert "hung" in kinds(never)
    assert "hung" not in kinds(Loaded(good.order, [last], never.summary | {"ended": "unreachable"}))


def test_what_is_written_for_scripts_has_its_doubts_on_standard_error(
    ordered: list[Order], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "known_ceiling", lambda *_: 1.0)
    assert call(["load", URL, "--style", "wrk"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith(f"Running 2s test @ {URL}\n")
    assert "webdyno: generator-bound: " in said.err


def kinds(loaded: Loaded, ceiling_per_s: float | None = None) -> set[str]:
    return {doubt.partition(":")[0] for doubt in doubts(loaded, ceiling_per_s)}


def test_doubts_are_said_when_there_is_a_reason_and_only_then() -> None:
    closed, opened = recorded("ok"), recorded("open-silence")
    assert kinds(closed) == set()
    assert "generator-bound" in kinds(closed, ceiling_per_s=closed.per_s / 0.95)
    assert "generator-bound" not in kinds(closed, ceiling_per_s=closed.per_s / 0.85)
    assert {"not-offered", "closed"} & kinds(opened) == {"not-offered"}
    busy = Loaded(closed.order, closed.slices, closed.summary | {"threads": [{"cpu_share": 0.97}]})
    assert "generator-bound" in kinds(busy)
    for wait in ("spin", "hybrid"):
        spinning = busy.summary | {"started": {"wait": wait}}
        assert "generator-bound" not in kinds(Loaded(busy.order, busy.slices, spinning))


def test_a_load_and_a_table_say_the_same_doubt_in_the_same_words() -> None:
    old = [change_slices(fakes.run("the server", round_=number), http10_answers=3) for number in (1, 2, 3)]
    (verdict,) = analyse(fakes.plan(old), fakes.FINGERPRINT, old).verdicts
    found = {doubt.kind: doubt.sentence for doubt in verdict.standings[0].doubts}
    ok = recorded("ok")
    told = doubts(Loaded(ok.order, ok.slices, ok.summary | {"http10_answers": 3}))
    assert f"http-1.0: {found['http-1.0'].replace('the others', 'servers of HTTP/1.1')}" in told, (
        "alone there are no others"
    )


def test_what_is_so_of_every_load_stands_in_its_title_and_is_no_doubt() -> None:
    for name, pace in (("ok", "closed"), ("open-silence", "open")):
        head, *lines = summary_lines(URL, recorded(name), doubts(recorded(name)))
        assert f", {pace}, one run of " in head
        assert not [line for line in lines if "interval" in line or "closed:" in line]


def test_an_engine_without_a_core_is_what_was_not_offered_and_not_the_server() -> None:
    like = recorded("open-silence")
    found = {doubt.partition(":")[0]: doubt for doubt in doubts(like)}
    assert "generator-bound" not in found
    assert "give more --max-connections" in found["not-offered"]
    times = {"idle_ns": 0, "run_delay_ns": like.steady[0].duration_ns // 2}
    starved = Loaded(like.order, [msgspec.structs.replace(each, **times) for each in like.slices], like.summary)
    found = {doubt.partition(":")[0]: doubt for doubt in doubts(starved)}
    assert "something else ran on the load generator's cores for" in found["generator-bound"]
    assert "max-connections" not in found["not-offered"]


@pytest.mark.parametrize(
    ("load", "offered", "shed", "doubted"),
    [
        ({"poisson": True, "seed": 3, "duration_s": 2.0}, 14, 0, False),  # 20 on average
        ({"poisson": True, "seed": 3, "duration_s": 2.0}, 28, 7, True),
        ({"duration_s": 2.0}, 20, 5, True),
        ({"duration_s": None, "count": 28}, 28, 7, True),
    ],
)
def test_what_was_sent_is_held_against_what_really_came_due(
    load: dict[str, Any], offered: int, shed: int, doubted: bool
) -> None:
    like = recorded("open")
    order = msgspec.structs.replace(like.order, load=load_of(rate_per_s=10.0, **OPEN, **load))
    errors = like.summary["errors"] | {"shed": shed}
    ended = "duration" if order.load.count is None else "count"
    said = like.summary | {"offered": offered, "ok": offered - shed, "errors": errors, "ended": ended}
    found = [doubt for doubt in doubts(Loaded(order, like.slices, said)) if doubt.startswith("not-offered")]
    assert [doubt.partition(";")[0] for doubt in found] == doubted * [
        "not-offered: only 75 % of the requests that were due were sent to the server: it was measured at a "
        "lower rate than requested"
    ]


def test_a_percentile_that_is_only_a_bound_is_shown_as_one() -> None:

    lines = summary_lines(URL, recorded("open-silence"), [])
    due = next(line for line in lines if line.startswith("  from due"))
    assert "p50 >= " not in due
    assert "p99 >= " in due


def test_the_panel_shows_each_slice_and_the_spectrum_of_the_last() -> None:
    from webdyno.commands.loading.watching import Panel, bar_length

    loaded = recorded("timed")
    panel = Panel(URL, loaded.order.load)
    for slice_ in loaded.slices:
        panel.add(slice_)
    text = panel.text()
    assert text[0].startswith(f"{URL}  4 connections, keep-alive  ")
    assert sum(line.startswith(("  steady", "  warmup")) for line in text) == len(loaded.slices)
    assert text[-1].lstrip().startswith("max ")
    assert (bar_length(0, 10), bar_length(5, 10), bar_length(10, 10)) == (1, 20, 40)


def test_nothing_is_drawn_where_nobody_looks(ordered: list[Order], capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["load", URL]) == 0
    assert capsys.readouterr().err == ""


def test_a_load_is_kept_as_a_run_like_any_other_where_a_folder_is_named(
    ordered: list[Order], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["load", f"{URL}/items", "-c", "64", "-H", "A: b", "--results", str(tmp_path / "r")]) == 0
    assert ordered[0].load.connections == 64
    (folder,) = (tmp_path / "r").iterdir()
    assert f"Results: {folder}" in capsys.readouterr().err
    with Store.open(folder) as store:
        (kept,), made = store.runs(), store.plan()
    like = recorded("timed")
    window = read_window(kept)
    assert window is not None
    assert window.rate_per_s == pytest.approx(like.per_s, rel=0.01)
    assert (kept.outcome, kept.trial.load, made.study) == ("ok", like.order.load, "load")
    assert [trial.id for trial in made.trials] == [kept.trial.id]
    assert call(["report", str(folder)]) == 0
    assert "127.0.0.1-8000 served" in capsys.readouterr().out


def test_where_it_cannot_be_kept_nothing_is_loaded(ordered: list[Order], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert call(["load", URL, "--results", str(tmp_path / "file")]) == 3
    assert ordered == []


def test_a_load_under_which_the_machine_slept_is_doubted() -> None:
    loaded = recorded("ok")
    assert "slept" not in kinds(loaded)
    loaded.slept_ns = 95 * 10**9
    assert doubts(loaded)[0] == (
        "slept: this machine was suspended for 1 min 35 s under the load, and its clock stood still; load again"
    )
