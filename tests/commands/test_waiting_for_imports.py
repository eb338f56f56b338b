"""What a command does not need is not imported, for its user waits for it."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.test_arrows import modules
from webdyno.commands import _FUNCTIONS, COMMANDS


def imported(code: str) -> set[str]:
    """Modules that are there after ``code`` in a Python of its own."""
    code = f"import sys\n{code}\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_no_command_waits_for_scipy_before_there_are_figures() -> None:
    places = [_FUNCTIONS.get(name, f"{name}:").partition(":")[0] for name in COMMANDS]
    found = imported("\n".join(f"import webdyno.commands.{place}" for place in places))
    assert {f"webdyno.commands.{place}" for place in places} <= found
    assert not [name for name in found if name.partition(".")[0] == "scipy"]


def test_nothing_asks_scipy_stats_for_what_scipy_special_has() -> None:
    """Its import takes half a second more."""
    asks = re.compile(r"^\s*(from|import) scipy\.stats\b", re.MULTILINE)
    assert [name for name, path in modules().items() if asks.search(path.read_text(encoding="utf-8"))] == []


def test_run_and_doctor_wait_for_no_analysis() -> None:
    assert "numpy" not in imported("import webdyno.commands.run, webdyno.commands.doctor")


def test_the_version_waits_for_nothing_that_starts_processes() -> None:
    found = imported("from webdyno.commands import call; call(['--version'])")
    assert "webdyno.commands" in found
    assert not found & {"webdyno.rig", "msgspec", "rich.markdown"}
