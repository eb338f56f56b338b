"""The recording in README.md: what a command printed, when it printed it, and readable where nothing moves."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).parent.parent


def load() -> Any:
    """tools/recording.py, which is no package."""
    spec = importlib.util.spec_from_file_location("recording", ROOT / "tools" / "recording.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


recording = load()


def rows(svg: str) -> list[tuple[str, str]]:
    """The times and texts of a recording."""
    texts = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return [(text.attrib["style"].removeprefix("animation-delay:"), text.text or "") for text in texts]


def test_lines_come_at_their_times_of_a_run_that_is_played_in_ten_seconds() -> None:
    drawn = recording.drawn("webdyno run x", [(5.0, "a < b"), (10.0, ""), (20.0, "x" * 90)])
    assert rows(drawn) == [
        ("0.00s", "$ webdyno run x"),
        ("2.50s", "a < b"),
        ("10.00s", "x" * 80),
        ("10.00s", "x" * 10),
    ]


def test_a_short_run_is_played_as_it_was() -> None:
    assert rows(recording.drawn("webdyno list", [(0.5, "a")]))[-1] == ("0.50s", "a")


def test_where_nothing_moves_all_lines_are_seen_and_dark_readers_get_dark_colours() -> None:
    still, moving = recording.STYLE.split("@keyframes")
    assert "opacity" not in still
    assert "prefers-reduced-motion: no-preference" in moving
    assert "prefers-color-scheme: dark" in still


def test_what_a_command_prints_is_recorded_with_its_exit_code_and_without_the_home_folder() -> None:
    lines, code = recording.recorded("echo ~/x; exit 3")
    assert [text for _, text in lines] == ["~/x"]
    assert code == 3


def test_readme_opens_with_a_result_and_the_recording_and_stays_short() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    top = text.partition("\n## ")[0]
    assert "docs/samples/quickstart.svg" in top
    assert "docs/recording.svg" in top
    assert len(text.splitlines()) < 150
    svg = (ROOT / "docs" / "recording.svg").read_text("utf-8")
    assert len(svg) < 30_000
    assert rows(svg)[0][1].startswith("$ webdyno ")
