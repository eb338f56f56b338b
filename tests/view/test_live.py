"""The run in progress, while another process writes it: every step is waited for by its event, never by the clock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.report.drawn import wide
from tests.report.test_html import parsed
from tests.view.serving import Asked, Writer, made, rounds, serving, trace
from webdyno import now
from webdyno.store import FILE
from webdyno.view.server.connections import MOST_STREAMS
from webdyno.wal import is_written

Events = Iterator[tuple[str, str]]


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    with Writer(tmp_path / "live-1") as process:
        yield process


@pytest.fixture
def asked(tmp_path: Path, writer: Writer) -> Iterator[Asked]:
    with serving(tmp_path) as there:
        yield there
    assert there.complaints == []


def until(events: Events, name: str, said: str) -> str:
    """Data of the next event of that name that says so; the stream must not end before."""
    for kind, data in events:
        if kind == name and said in data:
            return data
    raise AssertionError(f"the stream ended before {said!r}")


def test_the_stream_follows_the_run_to_its_end(asked: Asked, writer: Writer) -> None:
    with asked.events("/results/live-1/events") as events:
        assert "No trial is reported to be in flight" in until(events, "now", "0 of 4 trials")
        writer.tell("now 0")
        flight = until(events, "now", "<b>a</b>")
        for said in (
            "round 1/2: ",
            "hello · 64 connections, keep-alive",
            "steady, 4,320/s, 2 errors",
            "1 min 15 s left",
        ):
            assert said in flight
        assert "<svg" in flight
        writer.tell("append 0")
        assert "1,000/s" in until(events, "done", "<b>a</b>")
        writer.tell("append 1")
        assert "2 of 4 trials" in until(events, "now", "2 of 4")
        writer.tell("end")
        assert 'href="/results/live-1/"' in until(events, "over", "Open the report")
        assert list(events) == []


def test_a_block_in_flight_shows_who_shares_it_how_far_it_is_and_the_turns_of_each(
    asked: Asked, writer: Writer
) -> None:
    writer.tell("block")
    page = asked.get("/results/live-1/live").text
    text = " ".join("".join(parsed(page).text).split())
    for said in (
        "round 1/2: a and b side by side · hello · 64 connections, keep-alive",
        "pass 4 of 11: b 4,320/s, 0 errors",
        "seconds from the first turn of the block",
    ):
        assert said in text
    assert wide(page).count('class="line ') == 2


def test_whoever_comes_later_or_again_gets_the_whole_state(asked: Asked, writer: Writer) -> None:
    writer.tell("append 0")
    writer.tell("append 1")
    writer.tell("now 2")
    for _ in range(2):
        with asked.events("/results/live-1/events") as events:
            assert "<b>b</b>" in until(events, "done", "<b>a</b>")
            assert "2 of 4 trials" in until(events, "now", "4,320/s")


def test_the_page_is_whole_without_its_script(asked: Asked, writer: Writer) -> None:
    writer.tell("append 0")
    writer.tell("now 1")
    page = asked.get("/results/live-1/live").text
    text = " ".join("".join(parsed(page).text).split())
    for said in ("1 of 4 trials", "4,320/s", "1,000/s", "takes processor time from the run"):
        assert said in text
    assert '<noscript><meta http-equiv="refresh" content="5"/></noscript>' in page
    assert 'data-events="/results/live-1/events"' in page


def test_the_list_and_the_report_show_a_run_in_progress(asked: Asked, writer: Writer) -> None:
    writer.tell("append 0")
    listed = asked.get("/").text
    assert "in progress" in listed
    assert 'href="/results/live-1/live"' in listed
    assert "1 of 4 runs" in asked.get("/results/live-1/").text
    writer.tell("append 1")
    assert "2 of 4 runs" in asked.get("/results/live-1/").text


def test_metrics_of_a_run_in_progress_are_what_was_counted(asked: Asked, writer: Writer) -> None:
    writer.tell("append 0")
    text = asked.get("/metrics").text
    assert 'webdyno_runs_total{study="fake",contender="a"' in text
    assert "webdyno_place" not in text
    writer.tell("append 1")
    assert 'contender="b"' in asked.get("/results/live-1/metrics").text


def test_looking_does_not_change_a_store_that_is_written(asked: Asked, writer: Writer, tmp_path: Path) -> None:
    writer.tell("append 0")
    before = trace(tmp_path)
    for page in ("/", "/results/live-1/", "/results/live-1/live", "/results/live-1/metrics", "/metrics"):
        assert asked.get(page).status == 200
    with asked.events("/results/live-1/events") as events:
        until(events, "done", "<b>a</b>")
    assert trace(tmp_path) == before


def test_the_store_closes_to_one_file_though_it_was_watched(asked: Asked, writer: Writer, tmp_path: Path) -> None:
    with asked.events("/results/live-1/events") as events:
        writer.tell("append 0")
        until(events, "done", "<b>a</b>")
    writer.tell("end")
    assert sorted(path.name for path in (tmp_path / "live-1").iterdir()) == ["logs", FILE]


def test_a_writer_is_known_by_its_lock_alone(writer: Writer, tmp_path: Path) -> None:
    file = tmp_path / "live-1" / FILE
    assert is_written(file)
    writer.kill()
    assert file.with_name(f"{FILE}-shm").exists()
    assert not is_written(file)
    assert not is_written(made(tmp_path / "rest", rounds()) / FILE)


def test_a_folder_that_vanishes_ends_the_stream_with_a_sentence(asked: Asked, writer: Writer, tmp_path: Path) -> None:
    with asked.events("/results/live-1/events") as events:
        until(events, "now", "0 of 4")
        (tmp_path / "live-1").rename(tmp_path.parent / f"{tmp_path.name}-gone")
        assert "(any more)" in until(events, "over", "no results folder")
        assert list(events) == []


def test_the_end_of_the_server_ends_its_streams(writer: Writer, tmp_path: Path) -> None:
    with serving(tmp_path) as there, there.events("/results/live-1/events") as events:
        until(events, "now", "0 of 4")
        there.server.end()
        assert list(events) == []


def test_only_so_many_pages_follow_at_once_and_one_that_is_closed_makes_room(asked: Asked) -> None:
    path = "/results/live-1/events"
    with ExitStack() as followed:
        for _ in range(MOST_STREAMS):
            until(followed.enter_context(asked.events(path)), "now", "0 of 4")
        reply = asked.get(path)
        assert (reply.status, reply.headers["Retry-After"]) == (503, "5")
        assert asked.get("/results/live-1/live").status == 200
    while asked.get(path, "HEAD").status == 503:  # until the server has seen that they are gone
        pass


@pytest.mark.parametrize("content", [b"", b"{", b'{"trial": 1}', b"\xff\xfe", b"[" * 5000])
def test_a_file_beside_the_store_that_is_no_news_is_passed_over(content: bytes, asked: Asked, tmp_path: Path) -> None:
    (tmp_path / "live-1" / now.FILE).write_bytes(content)
    assert now.read(tmp_path / "live-1") is None
    assert "No trial is reported to be in flight" in asked.get("/results/live-1/live").text
