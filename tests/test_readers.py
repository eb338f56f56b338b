"""Readers of data from outside: whatever the bytes, a value or one sentence; and no reader that is not on the list."""

from __future__ import annotations

import os
import re
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from tests.reading.registry import Reader, text
from tests.reading.spoiling import spoiled
from tests.reading.table import ELSEWHERE, READERS
from webdyno.model.errors import WebdynoError

PACKAGE = Path(__file__).parent.parent / "src" / "webdyno"
READS = re.compile(
    r"tomllib\.loads|json\.(loads|decode|Decoder)|msgspec\.convert|\.read_(text|bytes)\(|csv\.DictReader"
    r"|shlex\.split|urlsplit|\.splitlines\("
)
PURE = ("catalogue", "analyse", "report")
"""Programs that contenders run, and what lies below the store."""
EXAMPLES = int(os.environ.get("READERS_EXAMPLES", "25"))


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_any_bytes_give_a_value_or_one_sentence(reader: Reader, tmp_path: Path) -> None:
    numbers = count()

    @given(spoiled(reader.samples))
    @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
    def holds(data: bytes) -> None:
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        try:
            reader.read(data, folder)
        except WebdynoError as error:
            assert str(error)
            assert len(str(error).splitlines()) == 1 or len(f"{text(data)}.".splitlines()) > 1, str(error)
        except reader.errors:
            pass

    holds()


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_what_a_sample_says_is_a_value_where_it_needs_nothing_else(reader: Reader, tmp_path: Path) -> None:
    for number, sample in enumerate(reader.samples):
        folder = tmp_path / str(number)
        folder.mkdir()
        try:
            reader.read(sample, folder)
        except WebdynoError as error:
            assert reader.alone is False, str(error)
        except reader.errors:
            pass


def test_every_module_that_reads_is_in_the_table_or_says_why_not() -> None:
    files = [path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] not in PURE]
    reading = {str(path.relative_to(PACKAGE)) for path in files if READS.search(path.read_text("utf-8"))}
    known = {reader.module for reader in READERS}
    assert sorted(reading - known - ELSEWHERE.keys()) == [], "give it a Reader in tests/reading, or a line in ELSEWHERE"
    assert sorted(ELSEWHERE.keys() - reading | ELSEWHERE.keys() & known) == [], "lines that nothing needs any more"
    assert sorted(module for module in known if not (PACKAGE / module).is_file()) == []


FOUND = [
    ("what engine prints", b'{"event":"started","schema":1,"at_ns":' + b"9" * 5000 + b"}"),
    ("what wrk2 prints", b"    Latency     1.07ms  436.436.50us   3.49ms   5.00%\n"),
    ("what h2load prints", b"9" * 25 + b"\t200\t5\n"),
    ("what h2load prints", b"0\t200\t5\n" + b"9" * 15 + b"\t200\t5\nrequests: 2 total, 2 started, 2 done, 0 errored\n"),
    ("a study", b"a = " + b"[" * 3000),
    ("pyproject.toml", b"a = " + b"9" * 5000),
    ("requirements.txt", b"-r " + b"9" * 5000 + b"\n./" + b"x" * 5000),
    ("requirements.txt", b"./a\0b"),
    ("a lock of pip's", b"\x80==1\n"),
    ("npm's lock", b"[]"),
    ("hashes of jars", b"one-word\n"),
    ("Maven's list", b"\x80"),
    ("the marker of a build", b'{"versions":{"a":"\x80"},"seconds":1}'),
    ("calibration.json", b'{"fingerprint":{"hostname":"\x80"}}'),
    ("the answer of a tryout", b'{"answer":"\x80"}'),
    ("an OpenAPI schema", b'{"paths":' * 3000),
    ("a body", b"[" * 100_000),
    ("a size", b"9" * 5000 + b"M"),
    ("processors", b"0-" + b"9" * 12),
    ("a rule of answers", b'body==\x80"'),
    ("/proc/stat", b"cpu  x\n\n"),
    ("/proc, /sys and /etc of a machine", b"0-x kB"),
    ("mountinfo", b"\xff / /a b - cgroup2\n"),
    ("/proc/meminfo", b"MemAvailable: \xff"),
    ("/proc/locks", b"\xff"),
    ("sockets that listen", b"sl\n0: x y z\n"),
    ("files of a cgroup", b"oom_kill x\n"),
    ("what a killed webdyno left", b'{"boot":"\x80"}'),
]
"""What once ended in a traceback, or in all memory."""


@pytest.mark.parametrize(("name", "data"), FOUND, ids=lambda it: it if isinstance(it, str) else "")
def test_what_was_found_stays_mended(name: str, data: bytes, tmp_path: Path) -> None:
    reader = next(reader for reader in READERS if reader.name == name)
    try:
        reader.read(data, tmp_path)
    except WebdynoError as error:
        assert len(str(error).splitlines()) == 1, str(error)
