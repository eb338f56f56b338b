"""Where a driver's program is looked for, and what is said when it is not there."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

from webdyno.load.driver import DRIVERS, Order
from webdyno.model.errors import MachineError
from webdyno.model.load import Load
from webdyno.model.workload import Request

ORDER = Order(
    host="::1",
    port=80,
    requests=[Request(name="hello", path="/")],
    load=Load(connections=1, duration_s=1, warmup_s=0),
    cores=(0,),
)
RATED = msgspec.structs.replace(
    ORDER, load=Load(connections=1, rate_per_s=5, max_connections=1, duration_s=1, warmup_s=0)
)


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with one empty folder for programs, that of Python included."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "venv" / "python"))
    (tmp_path / "venv").mkdir()
    return tmp_path


def program(path: Path) -> str:
    path.write_text("")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("engine", "webdyno-engine is neither beside .* nor on PATH: run make setup"),
        ("wrk", "wrk is not installed: apt-get install wrk, or use --driver engine"),
        ("wrk2", "wrk2 is not installed: build https://github.com/giltene/wrk2 .* as wrk2, or use --driver engine"),
        ("ab", "ab is not installed: apt-get install apache2-utils, or use --driver engine"),
        ("h2load", "h2load is not installed: apt-get install nghttp2-client, or use --driver engine"),
        ("oha", "oha is not installed: cargo install --locked oha, or use --driver engine"),
        ("jmeter", "jmeter is not installed: unpack the archive of .* on PATH, or use --driver engine"),
    ],
)
def test_missing_tool_is_a_sentence_that_says_how_to_get_it(bare: Path, name: str, sentence: str) -> None:
    with pytest.raises(MachineError, match=sentence):
        DRIVERS[name]().version(lambda argv: "")
    with pytest.raises(MachineError, match=sentence):
        DRIVERS[name]().commands(RATED if name == "wrk2" else ORDER)


def test_engine_beside_python_comes_before_the_one_on_path(bare: Path) -> None:
    program(bare / "webdyno-engine")
    beside = program(bare / "venv" / "webdyno-engine")
    assert DRIVERS["engine"]().commands(ORDER)[0].argv == [beside]


def test_engine_on_path_will_do(bare: Path) -> None:
    found = program(bare / "webdyno-engine")
    assert DRIVERS["engine"]().commands(ORDER)[0].argv == [found]


@pytest.mark.parametrize("name", DRIVERS)
def test_table_and_abilities_agree_on_the_name(name: str) -> None:
    assert DRIVERS[name]().can.driver == name
