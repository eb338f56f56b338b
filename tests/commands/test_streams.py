"""What webdyno prints to: a reader who has gone, streams that were closed, and a pipe that broke elsewhere."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable

import pytest

import webdyno.commands
from webdyno.commands import RESUMED, call

WEBDYNO = shlex.join([sys.executable, "-m", "webdyno"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", ["list >&-", "list <&-", "list 2>&-", "list >&- 2>&- <&-", "show go >&-", "list | head -1 >/dev/null"]
)
def test_streams_that_lead_nowhere_are_no_fault(line: str) -> None:
    done = _bash(f"set -o pipefail; {WEBDYNO} {line}")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_a_complaint_is_still_told_when_standard_output_is_closed() -> None:
    done = _bash(f"{WEBDYNO} show nobdy >&-")
    assert done.returncode == 2
    assert done.stderr.startswith("webdyno: nothing in the catalogue is called 'nobdy'")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (BrokenPipeError(32, "Broken pipe"), "broken pipe; webdyno doctor looks at this machine's limits"),
        (OSError(28, "No space left on device", "/x"), r"/x: the disk at / \(.*\) is full; make room\n"),
    ],
)
def test_what_breaks_elsewhere_is_not_taken_for_a_reader_who_has_gone(
    error: OSError, sentence: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def app(_: list[str], **__: object) -> None:
        raise error

    made: Callable[..., object] = lambda _: app  # noqa: E731
    monkeypatch.setattr(webdyno.commands, "make_app", made)
    assert call(["list"]) == 3
    assert re.match(f"webdyno: {sentence}", capfd.readouterr().err)


def test_what_can_be_resumed_says_so_once_there_is_room(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def app(_: list[str], **__: object) -> None:
        raise OSError(28, "No space left on device", "/x")

    monkeypatch.setattr(webdyno.commands, "make_app", lambda _: app)
    named = (*RESUMED, "check", "load")
    assert [call([name]) for name in named] == [4 if name == "compare" else 3 for name in named]
    told = capfd.readouterr().err.splitlines()
    assert all(f"webdyno {name} --resume" in line for name, line in zip(RESUMED, told, strict=False))
    assert not any("--resume" in line for line in told[len(RESUMED) :])


def _bash(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-c", line], check=False, capture_output=True, text=True)
