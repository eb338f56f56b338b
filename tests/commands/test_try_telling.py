"""The answer as it is printed."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.console import Console

from tests.analyse.fakes import FINGERPRINT, plan, run
from webdyno.analyse import analyse
from webdyno.commands.trying.telling import tell
from webdyno.report.words import BY_RATIO
from webdyno.session.tryout.copying import Copied
from webdyno.session.tryout.profile import Profile
from webdyno.session.tryout.told import Told


def told(**changes: Any) -> Told:
    fields: dict[str, Any] = {
        "answer": "keep your current",
        "take": "current",
        "interface": "wsgi",
        "python": "3.11.7",
        "asked": ["GET /"],
        "load": "32 connections",
        "copy": None,
        "copy_of": None,
        "limit": None,
        "profile": Profile(),
        "names": {"bjoern": "bjoern", "current": "current: gunicorn a:b"},
        "standings": [],
        "dropped": [],
        "failed": {},
        "skipped": [],
        "untried": 0,
        "doubts": [],
        "notes": [],
    }
    return Told(**fields | changes)


def printed(answer: Told, width: int = 120) -> str:
    console = Console(file=io.StringIO(), width=width)
    tell(answer, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


COPIED = Copied(
    needs="libev: apt-get install libev-dev",
    install="pip install bjoern",
    command="python serve.py",
    files={},
    systemd="",
    procfile="",
    dockerfile='ENV A="b"\nCMD []',
)


def test_who_came_first_can_be_copied_though_the_current_server_is_kept() -> None:
    text = printed(told(copy=COPIED, copy_of="bjoern"))
    assert "\nTo run bjoern, which came first:\n\nneeds       libev: apt-get install libev-dev\n" in text
    assert 'Dockerfile  ENV A="b"\n            CMD []\n' in text
    assert "To run" not in printed(told(copy=COPIED, copy_of="bjoern", take="bjoern"))
    assert "install" not in printed(told())


def raced() -> Told:
    made = [run(name, round_=r, rate=rate) for name, rate in RATES.items() for r in (1, 2, 3)]
    [verdict] = analyse(plan(made), FINGERPRINT, made).verdicts
    return told(standings=verdict.standings, names={"bjoern": "bjoern, 2 workers"}, take="bjoern")


RATES = {"bjoern": 9_000.0, "current": 4_500.0}


@pytest.mark.parametrize("width", [80, 120, 200])
def test_settings_are_compared_by_a_ratio_with_an_interval_of_its_own_at_any_width(width: int) -> None:
    text = printed(raced(), width)
    assert max(map(len, text.splitlines())) <= width
    assert "\u2026" not in text  # nothing is cut
    [row] = [line for line in text.splitlines() if line.startswith("current")]
    assert re.search(r" 0\.50+x \(0\.\d+-0\.\d+\) ", row)
    assert BY_RATIO in " ".join(text.split())
    assert ("A wider terminal also shows: " in text) == (width < 120)


def test_a_setting_that_failed_is_called_so() -> None:
    failed = [run("bjoern", round_=r, outcome="died", slices=[]) for r in (1, 2)]
    [verdict] = analyse(plan(failed), FINGERPRINT, failed).verdicts
    assert re.search(r"^bjoern .* failed", printed(told(standings=verdict.standings)), re.M)
