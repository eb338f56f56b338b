"""The report on a terminal."""

import io
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from tests.analyse.fakes import FINGERPRINT, plan, run, study
from tests.report.once import analysed
from webdyno.analyse import analyse
from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.report.terminal import render_terminal

FOLDER = Path("results/quickstart-20261120-143000")


def rendered(made: tuple[Plan, Fingerprint, list[Run]], width: int = 140, *, terminal: bool = False) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=terminal, color_system="256" if terminal else None)
    render_terminal(*made, analysed(made), FOLDER, console)
    return out.getvalue()


@pytest.mark.parametrize("width", [60, 80, 100, 140, 200])
def test_no_line_is_wider_than_the_terminal_but_what_is_copied(width: int) -> None:
    lines = rendered(study(), width).splitlines()
    meant_whole = ("  /cache", "   | ", "Results: ")
    assert [line for line in lines if len(line) > width and not line.startswith(meant_whole)] == []


def test_wide_shows_every_column_and_narrow_names_those_it_dropped() -> None:
    assert "peak memory" in rendered(study(), 140)
    narrow = rendered(study(), 80)
    assert "95 % interval" in narrow
    assert "vs best" in narrow
    assert "A wider terminal also shows: p50, p99, CPU/req, peak memory and errors." in narrow


def test_piped_it_is_ascii_without_colours_and_without_trailing_blanks() -> None:
    text = rendered(study())
    assert text.isascii()
    assert "\x1b" not in text
    assert "19.3 us" in text or " us " in text


def test_on_a_terminal_it_has_colours() -> None:
    assert "\x1b[1" in rendered(study(), terminal=True)


def test_it_says_who_wins_who_failed_who_was_skipped_what_to_do_and_where_it_lies() -> None:
    text = rendered(study())
    for said in (
        "go-nethttp served the most",
        "closes-connections",
        "What to do: turn keep-alive on",
        "meinheld did not install or compile (build-failed; hello and json, 6 rounds)",
        "| error: command '/usr/bin/gcc' failed with exit code 1",
        "actix: needs cargo",
        "take go-nethttp: it served the most on every workload",
        "go-nethttp --bind 127.0.0.1:8000",
        "Results: results/quickstart-20261120-143000",
    ):
        assert said in text


def test_markup_and_escape_sequences_from_outside_are_shown_not_obeyed() -> None:
    evil = run("[bold]x[/]", outcome="died", message="[red]\x1b[2J", log_tail="\x1b]0;title\x07", slices=[])
    text = rendered((plan([evil]), FINGERPRINT, [evil]))
    assert "[bold]x[/]" in text
    assert "\x1b" not in text
    assert "\x07" not in text


def test_nothing_measured_is_said_and_not_a_traceback() -> None:
    empty = plan([])
    assert "nothing was measured" in rendered((empty, FINGERPRINT, []))


def test_a_single_round_has_no_interval_and_no_recommendation() -> None:
    runs = [run("go", rate=9_000), run("node", rate=5_000)]
    text = rendered((plan(runs), FINGERPRINT, runs))
    assert "cannot tell yet: go is ahead" in text
    assert "one round" in text


def test_an_interrupted_study_reports_what_it_has() -> None:
    made, fingerprint, runs = study()
    text = rendered((made, fingerprint, runs[:40]))
    assert "50 of 90 planned runs are missing" in text


def test_unknown_figures_are_dashes() -> None:
    bare = [
        msgspec.structs.replace(run(n, round_=r), readings=[], memory_peak_bytes=None) for n in "ab" for r in (1, 2, 3)
    ]
    made = (plan(bare), FINGERPRINT, bare)
    name = analyse(*made).verdicts[0].standings[0].contender
    [row] = [line for line in rendered(made).splitlines() if line.split()[:2] == ["1", name]]
    assert row.split().count("-") == 4
