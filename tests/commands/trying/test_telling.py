"""The answer as it is printed."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from webdyno.commands.trying.copying import Copied
from webdyno.commands.trying.profile import Profile
from webdyno.commands.trying.telling import Told, tell


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


def printed(answer: Told) -> str:
    console = Console(file=io.StringIO(), width=120)
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
