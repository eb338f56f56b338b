"""Runtimes that npm brings: what is asked of it, which file of the package counts, and when it does not."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from tests.build.conftest import runtime
from tests.build.fake_host import FakeHost, no_such_program
from webdyno.build import expect_runtime, fetch_runtime, find_runtime
from webdyno.model.built import Found
from webdyno.rig.host import Command

BUN = runtime("node", name="bun", find=["bun"], package="bun@1.4.5")
INSIDE = "node_modules/@oven/bun-linux-x64/bin/bun"


class Npm:
    """npm as it behaves without install scripts: the program lies in the platform's package, .bin leads astray."""

    def __init__(self, status: int = 0) -> None:
        self.status, self.installs = status, 0

    def __call__(self, command: Command) -> str | int:
        if command.argv[0] != "npm":
            return "1.4.5\n"
        self.installs += 1
        assert {"install", "--ignore-scripts", "bun@1.4.5"} <= set(command.argv)
        modules = Path(command.argv[command.argv.index("--prefix") + 1]) / "node_modules"
        for name in ("@oven/bun-linux-x64/bin/bun", "bun/bin/bun.exe", "@oven/bun-linux-x64/README/bun"):
            (modules / name).parent.mkdir(parents=True)
            (modules / name).touch(mode=0o644 if "README" in name else 0o755)
        packages = {"node_modules/@oven/bun-linux-x64": {"version": "1.4.5", "integrity": "sha512-platform"}}
        packages["node_modules/bun"] = {"version": "1.4.5", "integrity": "sha512-bun"}
        (modules / ".package-lock.json").write_text(json.dumps({"packages": packages}))
        (modules / ".bin").mkdir()
        (modules / ".bin" / "bun").symlink_to("../bun/bin/bun.exe")
        return self.status


@pytest.fixture(autouse=True)
def _nothing_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)


def test_a_runtime_that_is_a_package_is_brought_once_and_only_when_asked_for(tmp_path: Path) -> None:
    npm = Npm()
    assert isinstance(find_runtime(BUN, FakeHost(npm), tmp_path), str)
    assert npm.installs == 0
    program = str(tmp_path / "runtimes" / "bun@1.4.5" / INSIDE)
    assert fetch_runtime(BUN, FakeHost(npm), tmp_path) == Found(runtime="bun", program=program, version="1.4.5")
    assert find_runtime(BUN, FakeHost(npm), tmp_path) == fetch_runtime(BUN, FakeHost(npm), tmp_path)
    assert npm.installs == 1


INTEGRITY = {"bun": "sha512-bun", "@oven/bun-linux-x64": "sha512-platform", "@oven/bun-linux-aarch64": "sha512-arm"}


def test_a_package_whose_files_are_those_of_the_catalogue_is_taken(tmp_path: Path) -> None:
    checked = msgspec.structs.replace(BUN, integrity=INTEGRITY)
    assert isinstance(fetch_runtime(checked, FakeHost(Npm()), tmp_path), Found)


@pytest.mark.parametrize(
    ("integrity", "named"),
    [({**INTEGRITY, "bun": "sha512-other"}, "bun"), ({"bun": "sha512-bun"}, "@oven/bun-linux-x64")],
)
def test_a_package_with_another_file_is_not_taken_though_it_be_in_the_cache(
    integrity: dict[str, str], named: str, tmp_path: Path
) -> None:
    npm = Npm()
    assert isinstance(fetch_runtime(BUN, FakeHost(npm), tmp_path), Found)
    why = fetch_runtime(msgspec.structs.replace(BUN, integrity=integrity), FakeHost(npm), tmp_path)
    assert isinstance(why, str)
    assert why.startswith(
        f"bun: the file of {named} does not match its hash in the table integrity of runtimes/bun.toml"
    )
    assert npm.installs == 2


def test_what_npm_would_bring_is_counted_on_and_not_brought(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm = Npm()
    assert isinstance(expect_runtime(BUN, FakeHost(npm), tmp_path), str)  # there is no npm either
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/npm" if name == "npm" else None)
    found = expect_runtime(BUN, FakeHost(npm), tmp_path)
    assert isinstance(found, Found)
    assert (found.version, npm.installs) == ("bun@1.4.5", 0)
    assert found.comes_from == "npm brings bun@1.4.5 into the cache when it is first needed"
    there = fetch_runtime(BUN, FakeHost(npm), tmp_path)
    assert expect_runtime(BUN, FakeHost(npm), tmp_path) == there
    assert isinstance(there, Found)
    assert there.comes_from == ""


def test_what_is_on_path_comes_before_what_npm_brings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    npm = Npm()
    found = fetch_runtime(BUN, FakeHost(npm), tmp_path)
    assert isinstance(found, Found)
    assert (found.program, npm.installs) == ("/usr/bin/bun", 0)


@pytest.mark.parametrize("answer", [Npm(status=1), no_such_program])
def test_a_package_that_npm_cannot_install_is_not_taken_and_tried_again(answer: object, tmp_path: Path) -> None:
    why = "JavaScript was not found (looked for bun); to get it: ask around"
    assert fetch_runtime(BUN, FakeHost(answer), tmp_path) == why  # type: ignore[arg-type]
    assert find_runtime(BUN, FakeHost(Npm()), tmp_path) == why
    assert isinstance(fetch_runtime(BUN, FakeHost(Npm()), tmp_path), Found)


def test_without_a_cache_nothing_is_brought() -> None:
    npm = Npm()
    assert isinstance(fetch_runtime(BUN, FakeHost(npm)), str)
    assert npm.installs == 0
