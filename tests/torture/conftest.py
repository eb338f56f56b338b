"""The machine of the live tests, and the table that `make torture` ends with: what was broken, what is promised, what
came of it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.conftest import cache, environment, others, streams, webdyno

__all__ = ["cache", "environment", "others", "streams", "webdyno"]

HERE = Path(__file__).parent
LINE = "torture"
"""Name of the property that carries a test's line of the table, its docstring, from the test to the end."""
WIDTHS = (46, 50, 8, 7)
MOST_MINUTES = 40
GRAVER = {"skipped": 1, "failed": 2}
SAID = {"passed": "held", "skipped": "skipped", "failed": "BROKEN"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test here is a line of the table, which its docstring says: what is broken, a colon, what is promised."""
    for item in items:
        if HERE in item.path.parents and isinstance(item, pytest.Function):
            line = item.function.__doc__ or ""
            if not line or "\n" in line:
                raise pytest.UsageError(f"{item.nodeid}: say in one line of docstring what is broken and promised")
            case = f" ({item.callspec.id})" if hasattr(item, "callspec") else ""
            item.user_properties.append((LINE, line.replace(": ", f"{case}: ", 1) if ": " in line else line + case))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The table, of those tests that ran."""
    rows: dict[str, list[pytest.TestReport]] = {}
    for reports in terminalreporter.stats.values():
        for each in reports:
            if isinstance(each, pytest.TestReport) and LINE in dict(each.user_properties):
                rows.setdefault(each.nodeid, []).append(each)
    if not rows:
        return
    terminalreporter.section("what was broken")
    for line in _row("what is broken", "what is promised", "outcome", "seconds"):
        terminalreporter.write_line(line)
    for reports in rows.values():
        for line in _told(reports):
            terminalreporter.write_line(line)
    total_s = sum(each.duration for reports in rows.values() for each in reports)
    terminalreporter.write_line(f"\n{len(rows)} in {total_s / 60:.1f} minutes, of the {MOST_MINUTES} they may take")


def _told(reports: list[pytest.TestReport]) -> Iterator[str]:
    """One test's lines, of the reports of its setup, call and end."""
    worst = max(reports, key=lambda each: GRAVER.get(each.outcome, 0))
    broken, _, promised = dict(reports[0].user_properties)[LINE].partition(": ")
    if worst.skipped and isinstance(worst.longrepr, tuple):
        promised = f"{promised} [{worst.longrepr[2].removeprefix('Skipped: ')}]"
    seconds = sum(each.duration for each in reports)
    return _row(broken, promised, SAID[worst.outcome], f"{seconds:.1f}")


def _row(*words: str) -> Iterator[str]:
    columns = [textwrap.wrap(text, width) or [""] for text, width in zip(words, WIDTHS, strict=True)]
    for at in range(max(map(len, columns))):
        parts = [each[at] if at < len(each) else "" for each in columns]
        yield " | ".join(part.ljust(width) for part, width in zip(parts, WIDTHS, strict=True)).rstrip(" |")
