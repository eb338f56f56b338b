"""The GitHub Action: its inputs reach ``webdyno compare`` as flags it has, and its outcome is the exit code's."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "tools" / "compare-action"
INPUTS = {
    "BASE": "main",
    "HEAD_REV": "HEAD",
    "REPO": ".",
    "CMD": "python 'my app.py' {port}",
    "BUILD": "",
    "ASKED": "/",
    "CONTENDER_FILE": "",
    "MARGIN": "3",
    "CANNOT_TELL": "pass",
    "MORE": "",
}


def act(tmp_path: Path, code: int, says: str = "### told", **inputs: str) -> tuple[int, list[str], str, str]:
    """The action with a webdyno that only notes its flags: exit code, flags, outputs, summary."""
    fake = tmp_path / "webdyno"
    fake.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" > {shlex.quote(str(tmp_path))}/flags\nprintf "{says}"\nexit {code}\n'
    )
    fake.chmod(0o755)
    places = {"GITHUB_ACTION_PATH": str(ROOT), "RUNNER_TEMP": str(tmp_path), "WEBDYNO": str(fake)}
    places |= {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary"), "GITHUB_OUTPUT": str(tmp_path / "outputs")}
    done = subprocess.run(["bash", str(SCRIPT)], env={**os.environ, **INPUTS, **places, **inputs}, check=False)
    outputs = tmp_path / "outputs"
    flags = (tmp_path / "flags").read_text().splitlines()
    summary = (tmp_path / "summary").read_text()
    return done.returncode, flags, outputs.read_text() if outputs.exists() else "", summary


def test_inputs_become_flags_and_blanks_stay_where_they_are(tmp_path: Path) -> None:
    code, flags, outputs, summary = act(tmp_path, 0, BUILD="make all; true", MORE="--connections 16")
    assert code == 0
    assert flags[flags.index("--cmd") + 1] == "python 'my app.py' {port}"
    assert flags[flags.index("--build") + 1] == "make all; true"
    assert flags[-2:] == ["--connections", "16"]
    assert "outcome=same-or-better" in outputs
    assert summary == "### told"


def test_a_contenders_file_takes_the_place_of_the_command(tmp_path: Path) -> None:
    _, flags, _, _ = act(tmp_path, 0, CONTENDER_FILE="bench/contenders/mine.toml")
    assert "--contender-file" in flags
    assert "--cmd" not in flags
    assert "--path" not in flags


@pytest.mark.parametrize(
    ("code", "says", "cannot_tell", "ends", "outcome"),
    [
        (1, "x", "pass", 1, "worse"),
        (3, "x", "pass", 0, "cannot-tell"),
        (3, "x", "fail", 3, "cannot-tell"),
        (3, "", "pass", 3, "cannot-tell"),  # nothing was said: base did not build, or the machine cannot do it
        (2, "", "pass", 2, ""),
    ],
)
def test_the_exit_code_says_whether_to_merge(
    code: int, says: str, cannot_tell: str, ends: int, outcome: str, tmp_path: Path
) -> None:
    got, _, outputs, _ = act(tmp_path, code, says, CANNOT_TELL=cannot_tell)
    assert got == ends
    assert (f"outcome={outcome}\n" in outputs) is bool(outcome)


def test_every_flag_is_one_of_webdyno_compare() -> None:
    page = (ROOT / "docs" / "reference" / "commands.md").read_text("utf-8")
    section = page[page.index("webdyno compare") :]
    named = set(re.findall(r"--[a-z][a-z-]+", SCRIPT.read_text("utf-8").partition("read -r")[0]))
    assert [flag for flag in named if flag not in section] == []


def test_every_input_reaches_the_script_as_a_variable() -> None:
    action = (ROOT / "action.yml").read_text("utf-8")
    passed = set(re.findall(r"^        ([A-Z_]+): \$\{\{ inputs\.[a-z-]+ \}\}$", action, re.M))
    assert passed == set(INPUTS)
    inputs = re.findall(r"^  ([a-z-]+):$", action.partition("inputs:\n")[2].partition("outputs:\n")[0], re.M)
    assert {f"inputs.{name} " for name in inputs} == set(re.findall(r"inputs\.[a-z-]+ ", action))
    assert "${{ inputs" not in action.partition("      run: bash")[2]


def test_the_action_installs_the_engine_as_a_wheel() -> None:
    runs = re.findall(r"^      run: (.*)$", (ROOT / "action.yml").read_text("utf-8"), re.M)
    assert runs[0] == 'python3 "$GITHUB_ACTION_PATH/tools/setup" --wheel'
