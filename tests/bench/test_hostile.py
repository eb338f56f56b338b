"""The fuzzer of results files: what is fine is called so, and what is not is caught."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from bench import hostile
from bench.hostile import Came

FINE = Came("value", 0.3, 100 << 20)


def test_a_value_and_a_sentence_are_fine_and_all_else_is_not() -> None:
    assert hostile.verdict(FINE, FINE) == "value"
    assert hostile.verdict(FINE._replace(what="error"), FINE) == "error"
    assert hostile.verdict(FINE._replace(what="Traceback"), FINE) == "Traceback"
    assert hostile.verdict(FINE._replace(cpu_s=2.5), FINE) == "took 2.5 s"
    assert hostile.verdict(FINE._replace(peak_bytes=400 << 20), FINE) == "took 300 MB more"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reading", "comes"),
    [
        (lambda _: None, "value"),
        (lambda _: [].pop(), "IndexError: pop from empty list\n"),
        (lambda _: os.kill(os.getpid(), signal.SIGKILL), f"ended by signal {signal.SIGKILL:d}"),
    ],
)
def test_what_comes_of_a_child_is_seen(tmp_path: Path, reading: Callable[[Path], object], comes: str) -> None:
    assert hostile.in_child(tmp_path, [reading]).what.endswith(comes)


@pytest.mark.slow
def test_a_file_as_it_was_written_is_a_value_in_every_form(tmp_path: Path) -> None:
    origin = hostile.base(tmp_path / "origin")
    for number in range(len(hostile.FORMS)):
        folder = shutil.copytree(origin, tmp_path / str(number))
        assert hostile.in_child(folder, hostile.whole(number)).what == "value"
