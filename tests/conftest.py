"""What holds for all tests: they see nothing of the shell they are run from, and ask loopback by no proxy."""

from __future__ import annotations

import gc
import os
import re
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

TERMINAL = ("FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
for name in (*TERMINAL, "VIRTUAL_ENV", "CONDA_PREFIX"):
    os.environ.pop(name, None)
for name in ("no_proxy", "NO_PROXY"):  # builds may need the proxy
    os.environ[name] = ",".join(filter(None, [os.environ.get(name), "127.0.0.1", "localhost", "::1"]))
for each in (signal.SIGHUP, signal.SIGQUIT):  # which a shell lets its background jobs and those of nohup ignore
    if signal.getsignal(each) == signal.SIG_IGN:
        signal.signal(each, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# Our matrices are small: more threads cost a tenth of all CPU time, and the workers of xdist have the other cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@pytest.fixture(autouse=True, scope="session")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What webdyno remembers for the user is not written beside what it remembers for who runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session")
def hdrhistogram() -> type:
    """HdrHistogram by another program than ours."""
    found: type = pytest.importorskip("hdrh.histogram", reason="it has no wheel for this processor").HdrHistogram
    return found


LIVE = ("live", "measures", "browser")


@cache
def may_be_live(file: Path) -> bool:
    """Whether a file of tests says that it has a live one; all in tests/live and tests/browser are."""
    return file.parent.name in LIVE or re.search(f"mark.({'|'.join(LIVE)})", file.read_text("utf-8")) is not None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where only live tests are asked for, files without any are not imported: it would take each worker seconds."""
    asked = config.option.markexpr.split(" and ")
    if not set(LIVE) & set(asked) or not collection_path.match("test_*.py"):
        return None
    return None if may_be_live(collection_path) else True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """No live test stands where it would not be looked for."""
    for item in items:
        if any(item.get_closest_marker(mark) for mark in LIVE) and not may_be_live(item.path):
            raise pytest.UsageError(f"{item.path}: its live tests are not found: write pytest.mark.live into the file")


def pytest_collection_finish() -> None:
    """What was collected stays to the end, so the garbage collector need not look through it again and again."""
    gc.collect()
    gc.freeze()


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in a shell's background job: children would ignore it too
    signal.signal(signal.SIGINT, signal.default_int_handler)
