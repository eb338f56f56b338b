"""Is a runtime here, and if not, what would bring it in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.build.conftest import runtime
from tests.build.fake_host import FakeHost, no_such_program
from webdyno.build import fetch_runtime, find_runtime
from webdyno.build.recipes import RECIPES
from webdyno.model.built import Found
from webdyno.rig.host import STDOUT, Command


@pytest.fixture(autouse=True)
def no_pyenv(monkeypatch: pytest.MonkeyPatch) -> None:
    """What somebody's pyenv holds is found by no test that does not mean it."""
    monkeypatch.setenv("PATH", os.defpath)
    monkeypatch.setenv("PYENV_ROOT", "/nowhere")


@pytest.fixture
def on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")


@pytest.mark.usefixtures("on_path")
@pytest.mark.parametrize(
    ("told", "minimum"),
    [
        ("v20.20.2\n", "18"),
        ("v20.20.2\n", "20.20"),
        ("go version go1.26.8 linux/amd64\n", "1.21"),
        ("go version go1.26.8 linux/amd64\n", "1.26.8"),
        ("h2o version 2.2.5\n", "2.2.1"),
        ("openjdk 24 2025-03-18\n", "17"),
        ("strange", None),
    ],
)
def test_a_runtime_that_is_new_enough_is_found(told: str, minimum: str | None) -> None:
    found = find_runtime(runtime("node", minimum=minimum), FakeHost(lambda _: told))
    assert found == Found(runtime="no", program="/usr/bin/tool", version=told.strip())


@pytest.mark.usefixtures("on_path")
def test_a_runtime_that_is_too_old_says_which_version_would_do() -> None:
    found = find_runtime(runtime("go", minimum="1.21"), FakeHost(lambda _: "go version go1.9 linux/amd64"))
    assert found == "/usr/bin/tool is go version go1.9 linux/amd64, and 1.21 or newer is needed; to get it: ask around"


@pytest.mark.usefixtures("on_path")
@pytest.mark.parametrize("answer", [lambda _: 1, lambda _: "\n", no_such_program])
def test_a_program_that_does_not_tell_its_version_is_not_taken(answer: object) -> None:
    found = find_runtime(runtime("node"), FakeHost(answer))  # type: ignore[arg-type]
    assert found == "/usr/bin/tool does not report its version; to get it: ask around"


@pytest.mark.usefixtures("on_path")
def test_a_version_may_be_said_on_standard_error_and_is_not_looked_for_there_first() -> None:
    def nginx(command: Command) -> str:
        return "nginx version: nginx/1.22.1\n" if command.stderr == STDOUT else ""

    found = find_runtime(runtime("native", minimum="1.18"), FakeHost(nginx))
    assert found == Found(runtime="na", program="/usr/bin/tool", version="nginx version: nginx/1.22.1")
    quiet = FakeHost(lambda _: "v20.20.2\n")
    find_runtime(runtime("node"), quiet)
    assert [command.stderr for command in quiet.commands] == [Path(os.devnull)]


def test_a_runtime_that_is_not_there_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    found = find_runtime(runtime("node", find=["node", "nodejs"]), FakeHost(no_such_program))
    assert found == "JavaScript was not found (looked for node, nodejs); to get it: ask around"


def test_python_is_what_uv_finds_outside_environments() -> None:
    def uv(command: Command) -> str | int:
        if "find" not in command.argv:
            return "Python 3.11.2\n"
        assert {"--system", "--no-python-downloads"} <= set(command.argv)
        return "/usr/bin/python3.11\n" if command.argv[-1] == "3.11" else 2

    found = find_runtime(runtime("python", find=["3.10", "3.11"]), FakeHost(uv))
    assert found == Found(runtime="py", program="/usr/bin/python3.11", version="Python 3.11.2")


def test_a_kind_without_a_recipe_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(RECIPES, "native")
    assert find_runtime(runtime("native"), FakeHost(no_such_program)) == "na: webdyno cannot build for native yet"


def test_a_missing_python_is_brought_by_uv_and_only_when_asked_for() -> None:
    commands: list[str] = []

    def uv(command: Command) -> str | int:
        commands.append(command.argv[2] if command.argv[1] == "python" else "version")
        if command.argv[1] != "python":
            return "Python 3.11.15\n"
        return "/home/user/python3.11\n" if "install" in commands else 2

    python = runtime("python", find=["3.11"])
    assert isinstance(find_runtime(python, FakeHost(uv)), str)
    assert commands == ["find"]
    found = fetch_runtime(python, FakeHost(uv))
    assert found == Found(runtime="py", program="/home/user/python3.11", version="Python 3.11.15")
    assert commands == ["find", "find", "install", "find", "version"]


def test_a_python_that_cannot_be_brought_is_missing_with_its_reason() -> None:
    found = fetch_runtime(runtime("python", find=["3.11"]), FakeHost(lambda _: 2))
    assert found == "Python was not found (looked for 3.11); to get it: ask around"


def test_a_runtime_without_the_tool_that_builds_for_it_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None if name == "mvn" else f"/usr/bin/{name}")
    found = find_runtime(runtime("jvm", language="Java"), FakeHost(lambda _: "openjdk 17"))
    assert found == "mvn was not found, and Java is built with it; to get it: ask around"


def test_a_python_behind_a_shim_that_does_not_run_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """uv gives up at the shim."""
    kept = tmp_path / "versions" / "3.13.0" / "bin" / "python3.13"
    kept.parent.mkdir(parents=True)
    kept.touch(mode=0o755)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    host = FakeHost(lambda command: "Python 3.13.0\n" if command.argv[0] == str(kept) else 2)
    found = find_runtime(runtime("python", find=["3.13"]), host)
    assert isinstance(found, Found)
    assert found.program == str(kept)


@pytest.mark.usefixtures("on_path")
def test_a_program_that_never_ends_telling_its_version_is_not_taken_and_not_asked_twice() -> None:
    host = FakeHost(lambda _: "7.0.0 " * 12_000)
    found = find_runtime(runtime("node"), host)
    assert found == (
        "/usr/bin/tool --version printed more than 64 KiB and was ended; try it by hand; to get it: ask around"
    )
    assert len(host.commands) == 1
