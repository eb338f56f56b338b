"""The figures of a page as files: within the page as long as they are few, and by a command where they are many."""

from __future__ import annotations

import base64
import gzip
import random
import re

from webdyno.report.downloads import downloads


def content(page: str) -> bytes:
    found = re.search(r"base64,([A-Za-z0-9+/=]+)", page)
    assert found
    return base64.b64decode(found[1])


def test_a_small_file_lies_in_the_page_as_it_is() -> None:
    page = str(downloads("hello", {"csv": "a,b\n1,2\n"}))
    assert content(page) == b"a,b\n1,2\n"
    assert 'download="hello.csv"' in page


def test_a_large_one_is_compressed_and_the_same_each_time() -> None:
    table = "contender,rate\n" * 5000
    pages = {str(downloads("hello", {"csv": table})) for _ in range(2)}
    assert len(pages) == 1
    assert gzip.decompress(content(page := pages.pop())).decode() == table
    assert 'download="hello.csv.gz"' in page


def test_one_that_stays_large_is_told_with_the_command_that_writes_it() -> None:
    noise = random.Random(1).randbytes(150_000).hex()
    page = str(downloads("hello", {"json": noise, "csv": "a\n"}))
    assert "JSON by <code>webdyno report FOLDER --format json</code>" in page
    assert (len(page) < 1000, content(page)) == (True, b"a\n")
