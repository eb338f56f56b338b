"""The pages: the list, a report, two results over each other; what is wrong with a folder is said and never raised."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.analyse.fakes import FINGERPRINT, contender, plan, run, slices, spread, study, workload
from tests.report.drawn import wide
from tests.report.test_html import EVIL, parsed
from tests.view.serving import Asked, made, rounds, serving, trace
from webdyno.model.errors import UsageError
from webdyno.model.race import Race
from webdyno.store import FILE, Store
from webdyno.view import Shelf, metrics, shelf
from webdyno.view.course import of_one


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Asked]:
    root = tmp_path / "results"
    made(root / "slow-1", rounds("go", rate=10_000, started_at="2026-11-20T10:00:00Z"))
    made(root / "fast-2", rounds("go", rate=20_000, started_at="2026-11-21T10:00:00Z"))
    with serving(root) as there:
        yield there
    assert there.complaints == []


def text_of(html: str) -> str:
    return " ".join(" ".join(parsed(html).text).split())


def test_the_list_has_the_newest_first_with_runs_machine_and_answer(asked: Asked) -> None:
    reply = asked.get("/")
    text = text_of(reply.text)
    assert reply.status == 200
    assert text.index("fast-2") < text.index("slow-1")
    for said in (
        "A made-up study",
        "2026-11-21 10:00 UTC",
        "3 runs",
        "Xeon",
        "2 cores",
        "bench-1",
        "20,400 requests/s",
        "10,200 requests/s",
    ):
        assert said in text
    assert text.count("No contender can be recommended: only go served, without a rival. go served") == 2
    assert "<script" not in reply.text


def test_a_folder_of_no_results_yet_says_how_to_make_them(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with serving(tmp_path / "empty") as there:
        reply = there.get("/")
        assert (reply.status, "webdyno run quickstart" in reply.text) == (200, True)


def test_a_results_folder_itself_is_shown_alone(tmp_path: Path) -> None:
    made(tmp_path / "one", rounds())
    made(tmp_path / "two", rounds())
    with serving(tmp_path / "one") as there:
        assert "two" not in text_of(there.get("/").text)
        assert there.get("/results/one/").status == 200
        assert there.get("/results/two/").status == 404


def test_no_folder_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere: there is no such folder; `webdyno run STUDY` makes results"):
        Shelf(tmp_path / "nowhere")


def test_a_report_is_the_ordinary_one_under_its_own_policy(asked: Asked) -> None:
    reply = asked.get("/results/fast-2/")
    assert "Ranking" in text_of(reply.text)
    policy = reply.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert policy.endswith("frame-ancestors 'none'")
    assert "script-src 'unsafe-inline'" not in policy
    assert asked.get("/results/fast-2").text == reply.text


def test_a_report_of_no_runs_yet_says_so(tmp_path: Path) -> None:
    made(tmp_path / "none", [], plan([run()]))
    with serving(tmp_path) as there:
        assert "No run is finished yet." in there.get("/results/none/").text
        assert "not begun" in there.get("/").text
        assert "0 of 1 run" in text_of(there.get("/").text)


def test_two_results_lie_over_each_other_with_ratio_interval_and_verdict(asked: Asked) -> None:
    reply = asked.get("/compare?base=slow-1&head=fast-2")
    text = text_of(reply.text)
    assert reply.status == 200
    for said in (
        "hello, 64 connections, keep-alive",
        "10,",
        "20,",
        "2.0",
        "better",
        "Head is faster than base: +100 %",
    ):
        assert said in text
    assert wide(reply.text).count("<svg") == 1  # no histograms in these Runs: the course of time alone
    parsed(reply.text)


def test_an_overlay_draws_the_cell_that_is_chosen(tmp_path: Path) -> None:
    import numpy as np

    rng = np.random.default_rng(3)
    latency = spread(rng, 6e6, 0.4, 4000)
    some = [
        run(name, round_=at, latency_ns=None, slices=slices([rate * (1 + at / 100)] * 4, latency))
        for name, rate in (("go", 900.0), ("node", 1800.0))
        for at in range(1, 7)
    ]
    made(tmp_path / "a", some)
    made(tmp_path / "b", some)
    with serving(tmp_path) as there:
        page = there.get("/compare?base=a&head=b&cell=1").text
        assert wide(page).count("<svg") == 2
        assert '<h2 id="drawn">node: hello' in page
        assert "Head is as fast as base within 3.0 %" in text_of(page)
        assert '<h2 id="drawn">go: hello' in there.get("/compare?base=a&head=b&cell=0").text
        for cell in ("7", "-1", "x", "9" * 40):
            assert there.get(f"/compare?base=a&head=b&cell={cell}").status == 200


def test_an_overlay_needs_two_different_results_that_share_something(asked: Asked, tmp_path: Path) -> None:
    made(tmp_path / "results" / "other", rounds("go", workload="json"))
    for wrong in ("", "?base=slow-1", "?base=slow-1&head=slow-1", "?base=slow-1&base=fast-2&head=fast-2"):
        assert asked.get(f"/compare{wrong}").status == 400
    assert asked.get("/compare?base=slow-1&head=gone").status == 404
    reply = asked.get("/compare?base=slow-1&head=other")
    assert (reply.status, "share no contender" in reply.text) == (200, True)


@pytest.mark.parametrize("harm", ["cut", "foreign", "newer", "empty"])
def test_a_damaged_store_is_a_line_in_the_list_and_a_page_of_one_sentence(harm: str, tmp_path: Path) -> None:
    file = made(tmp_path / "bad", rounds()) / FILE
    made(tmp_path / "good", rounds())
    if harm == "cut":
        file.write_bytes(file.read_bytes()[:5000])
    elif harm == "empty":
        file.write_bytes(b"")
    else:
        with sqlite3.connect(file) as connection:
            connection.execute("PRAGMA application_id=1" if harm == "foreign" else "PRAGMA user_version=999")
        connection.close()
    with serving(tmp_path) as there:
        listed = there.get("/")
        assert listed.status == 200
        assert "Traceback" not in listed.text
        assert "good" in listed.text
        for path in ("/results/bad/", "/results/bad/live", "/compare?base=bad&head=good", "/results/bad/metrics"):
            reply = there.get(path)
            assert reply.status == 500
            assert "results.sqlite" in reply.text
        assert there.get("/metrics").status == 200
        assert there.complaints == []


def test_a_file_of_an_older_schema_is_shown_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    golden = Path(__file__).parents[1] / "golden" / "store" / "schema-1.sqlite"
    (tmp_path / "old" / FILE).write_bytes(golden.read_bytes())
    before = trace(tmp_path)
    with serving(tmp_path) as there:
        assert there.get("/").status == 200
        assert there.get("/results/old/").status == 200
    assert trace(tmp_path) == before


def test_a_folder_that_vanishes_is_not_here_any_more(asked: Asked, tmp_path: Path) -> None:
    assert asked.get("/results/fast-2/").status == 200
    (tmp_path / "results" / "fast-2").rename(tmp_path / "elsewhere")
    reply = asked.get("/results/fast-2/")
    assert (reply.status, "(any more)" in reply.text) == (404, True)
    assert "fast-2" not in asked.get("/").text


def test_a_report_is_made_anew_when_its_store_grows(asked: Asked, tmp_path: Path) -> None:
    assert "4 of 3 runs" not in asked.get("/results/fast-2/").text
    with Store.open(tmp_path / "results" / "fast-2", writable=True) as store:
        late = run("go", round_=4, rate=20_000)
        store.grow([late.trial])
        store.append(late)
    assert "4 of 4 runs" in asked.get("/results/fast-2/").text


def test_text_from_outside_is_never_markup(tmp_path: Path) -> None:
    name = "<b>&\"'é %2e 100%"
    runs = [run(EVIL, workload=EVIL, round_=r, message=EVIL) for r in (1, 2)]
    runs.append(run(EVIL, workload=EVIL, round_=3, outcome="died", message=EVIL, log_tail=EVIL, slices=[]))
    hostile = plan(
        runs, study=EVIL, title=EVIL, contenders={EVIL: contender(EVIL)}, workloads={EVIL: workload(EVIL, title=EVIL)}
    )
    for folder in (name, "other"):
        with Store.create(
            tmp_path / folder, hostile, msgspec.structs.replace(FINGERPRINT, cpu_model=EVIL, hostname=EVIL)
        ) as store:
            for each in runs:
                store.append(each)
    with serving(tmp_path) as there:
        listed = there.get("/").text
        paths = [value for key, value in parsed(listed).attributes if key == "href" and "/results/" in value]
        assert len(paths) == 2
        pages = [listed, *(there.get(path + end).text for path in paths for end in ("", "live"))]
        chosen = [value for key, value in parsed(listed).attributes if key == "value"]
        assert name in chosen
        query = "base=other&head=" + "%3Cb%3E%26%22%27%C3%A9+%252e+100%25"
        pages.append(there.get(f"/compare?{query}").text)
        for page in pages:
            checker = parsed(page)
            assert "img" not in checker.tags
            assert not any(key.startswith("on") for key, _ in checker.attributes)
            assert "<script>alert" not in page
        assert all(EVIL in "".join(parsed(page).text) for page in pages)


def test_a_whole_study_is_listed_with_its_failures(tmp_path: Path) -> None:
    whole, _, runs = study()
    made(tmp_path / "quickstart-1", runs, whole)
    with serving(tmp_path) as there:
        text = text_of(there.get("/").text)
        assert "90 runs" in text
        assert "7 failed" in text


def test_a_pipe_in_the_place_of_a_log_keeps_nobody_waiting(tmp_path: Path) -> None:
    file = made(tmp_path / "bad", rounds()) / FILE
    os.mkfifo(file.with_name(f"{file.name}-shm"))
    made(tmp_path / "good", rounds())
    with serving(tmp_path) as there:
        listed = there.get("/")
        assert (listed.status, "no ordinary file" in listed.text, "good" in listed.text) == (200, True, True)


def test_one_store_that_cannot_be_analysed_silences_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("bad", "good"):
        made(tmp_path / name, rounds(), plan(rounds(), study=name))
    real = metrics.judged_tables
    monkeypatch.setattr(
        metrics, "judged_tables", lambda of, *rest: 1 / 0 if of.plan.study == "bad" else real(of, *rest)
    )
    with serving(tmp_path) as there:
        reply = there.get("/metrics")
        assert (reply.status, 'study="good"' in reply.text, 'study="bad"' in reply.text) == (200, True, False)
        assert there.get("/results/bad/metrics").status == 500
        assert len(there.complaints) == 1


def test_an_entry_that_breaks_in_a_new_way_is_a_line_in_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path / "odd", rounds())

    def deep(*_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr(shelf, "_entry", deep)
    with serving(tmp_path) as there:
        reply = there.get("/")
        assert (reply.status, "RecursionError: too deep" in reply.text) == (200, True)


def test_a_question_with_more_than_any_page_asks_for_is_not_understood(asked: Asked) -> None:
    assert asked.get("/compare?" + "&".join(f"a{n}=1" for n in range(30))).status == 400


def test_a_tool_of_one_figure_for_each_phase_has_no_course() -> None:
    assert of_one([5.0], [10.0], "wrk") is None
    assert of_one([5.0], [10.0, 11.0], "engine") is not None
    drawn = of_one([], [10.0] * 600, "engine", 400)
    assert drawn is not None
    assert ">1000<" in drawn  # seconds, of which the first 400 are not kept


def test_a_race_that_was_interrupted_is_stopped(tmp_path: Path) -> None:
    runs = [run("go", round_=1), run("go", round_=2, outcome="interrupted", slices=[])]
    raced = msgspec.structs.replace(plan(runs), race=Race())
    made(tmp_path / "race", runs, raced)
    assert Shelf(tmp_path).entry("race").state == "stopped"


def test_a_race_at_rest_says_how_it_ended_and_a_killed_one_is_stopped(tmp_path: Path) -> None:
    """Two contenders that differ clearly: three rounds settle it; two do not, however they ended."""
    runs = [run(name, round_=at, rate=rate + at) for at in range(1, 9) for name, rate in (("a", 1e4), ("b", 3e4))]
    raced = plan(runs, race=Race(most_runs=16))
    made(tmp_path / "settled", runs[:6], raced)
    made(tmp_path / "killed", runs[:3], raced)
    made(tmp_path / "used", runs[:6], plan(runs, race=Race(least_rounds=4, most_runs=6)))
    made(tmp_path / "interrupted", [*runs[:3], run("b", round_=2, outcome="interrupted", slices=[])], raced)
    with serving(tmp_path) as there:
        rows = rows_of(there.get("/").text)
    said = {row.split('value="')[1].split('"')[0]: text_of(f"<tr{row}</tr>") for row in rows}
    assert "6 runs 3 rounds" in said["settled"]
    assert "Settled after 3 rounds; the order of 1 of 1 pair is decided. " in said["settled"]
    assert "Stopped in round 2, before its end; the order of 0 of 1 pair is decided. " in said["killed"]
    assert "Ended after 3 rounds, when its runs were used up; the order of" in said["used"]
    assert "3 of at most 16 runs 2 rounds stopped" in said["interrupted"]
    assert Shelf(tmp_path).entry("killed").state == "ended"


def rows_of(page: str) -> list[str]:
    return [row.partition("</tr>")[0] for row in page.split("<tbody>")[1].split("<tr")[1:]]


def test_a_race_that_is_over_tells_its_own_number_of_runs(tmp_path: Path) -> None:
    runs = [run("go", round_=at) for at in (1, 2, 3)]
    planned = plan([run("go", round_=at) for at in range(1, 9)], race=Race(most_runs=5))
    made(tmp_path / "race", runs, planned)
    assert Shelf(tmp_path).entry("race").planned == 3
    made(tmp_path / "cut", [*runs[:2], run("go", round_=3, outcome="interrupted", slices=[])], planned)
    assert Shelf(tmp_path).entry("cut").planned == 5
