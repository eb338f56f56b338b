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
