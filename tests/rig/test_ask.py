"""A program that is asked for its version answers, hangs, or prints without end; none of these is waited for."""

from __future__ import annotations

import sys
import time

import pytest

from tests.live import left_behind
from webdyno.model.errors import MachineError
from webdyno.rig import ask as asking
from webdyno.rig.ask import asker
from webdyno.rig.here import Here

pytestmark = pytest.mark.live


def test_both_streams_are_heard_whatever_the_status(here: Here) -> None:
    assert asker(here)(["/bin/sh", "-c", "echo 1.2.3; echo too old >&2; exit 3"]) == "1.2.3\ntoo old\n"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("trap '' TERM; sleep 60 & wait", "did not end within 0.3 s and was ended; try it by hand"),
        ("while :; do echo no end; done", "printed more than 64 KiB and was ended; try it by hand"),
    ],
    ids=["hangs", "prints without end"],
)
def test_what_does_not_come_to_an_end_is_ended_and_told(
    script: str, said: str, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "WITHIN_S", 0.3 if "sleep" in script else 60.0)
    begun = time.monotonic()
    with pytest.raises(MachineError) as raised:
        asker(here)(["/bin/sh", "-c", script])
    assert str(raised.value).endswith(said)
    assert time.monotonic() - begun < 50
    assert left_behind.processes(here.token) == []


def test_what_is_gone_is_a_sentence(here: Here) -> None:
    with pytest.raises(MachineError, match="there is no such program"):
        asker(here)([f"{sys.executable}-of-tomorrow", "--version"])
