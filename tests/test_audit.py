"""make audit: a hole of our own fails, one of a contender does not, and what was not asked is never called clean."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
HOLE = {"id": "PYSEC-2026-1", "fix_versions": ["1.1"], "aliases": [], "description": "."}


def load() -> Any:
    """tools/audit.py, which is no package."""
    spec = importlib.util.spec_from_file_location("audit", ROOT / "tools" / "audit.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["audit"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


audit = load()


class World:
    """Programs that answer what a test says; nothing is started."""

    def __init__(self) -> None:
        self.locked = "own==1.0\nold==3.0 ; sys_platform == 'win32'\n"
        self.holes: dict[tuple[str, str], list[dict[str, Any]]] = {}
        self.services = {"pypi", "osv"}
        self.deny_installs = self.db = True
        self.denied: list[str] = []
        self.npm: dict[str, Any] = {"vulnerabilities": {}}
        self.asked: list[str] = []

    def run(self, command: list[str], folder: Path = ROOT) -> Any:
        name = Path(command[0]).name
        if name == "uv":
            return audit.Done(0, self.locked, "") if command[1] == "export" else self.pip_audit(command)
        if name == "npm":
            return audit.Done(1, json.dumps(self.npm), "")
        if name == "cargo":
            return self.cargo(command)
        assert name == "cargo-deny"
        return self.deny(command)

    def pip_audit(self, command: list[str]) -> Any:
        [service] = [each.partition("=")[2] for each in command if each.startswith("--vulnerability-service")]
        pins = sorted(audit.pins(Path(command[-1]).read_text("utf-8")))
        assert len({name for name, _ in pins}) == len(pins), "pip-audit takes one version of each"
        self.asked.append(service)
        if service == "osv" and service not in self.services:
            return audit.Done(1, "", "ConnectionError: api")
        known = [
            {"name": name, "version": version, "vulns": self.holes.get((name, version), [])}
            if service in self.services
            else {"name": name, "skip_reason": "not found"}
            for name, version in pins
        ]
        return audit.Done(0, json.dumps({"dependencies": known, "fixes": []}), "No known vulnerabilities found")

    def cargo(self, command: list[str]) -> Any:
        if command[1] == "install":
            return audit.Done(0 if self.deny_installs else 101, "", "error: could not download")
        crates = [{"name": "strange", "version": "1.0.0", "license": "GPL-3.0-only"}, {"name": "webdyno-engine"}]
        crates[1] |= {"version": "0.1.0", "license": "Apache-2.0"}
        return audit.Done(0, json.dumps({"packages": crates}), "")

    def deny(self, command: list[str]) -> Any:
        if command[-1] == "db":
            return audit.Done(0 if self.db else 1, "", "no route")
        if "--version" in command:
            return audit.Done(0, f"cargo-deny {audit.CARGO_DENY}\n", "")
        lines = [
            json.dumps({"type": "diagnostic", "fields": {"severity": "error", "message": each, "labels": []}})
            for each in (self.denied if "bans" in command else [])
        ]
        return audit.Done(1 if lines else 0, "", "\n".join([*lines, json.dumps({"type": "summary", "fields": {}})]))


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    it = World()
    monkeypatch.setattr(audit, "run", it.run)
    monkeypatch.setattr(audit.shutil, "which", lambda *_, **__: None)
    return it


def test_where_nothing_is_known_against_anything_it_passes(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert audit.main() == 0
    assert "findings 0" in capsys.readouterr().out


def test_a_hole_of_our_own_fails_and_says_what_mends_it(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.holes["own", "1.0"] = [HOLE]
    assert audit.main() == 1
    assert "own 1.0: PYSEC-2026-1; mended in 1.1" in capsys.readouterr().out


def test_what_is_only_for_another_system_is_asked_for_too(world: World) -> None:
    world.holes["old", "3.0"] = [HOLE]
    assert audit.main() == 1


def test_holes_of_contenders_are_counted_with_their_locks_and_fail_nothing(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    locks = (audit.CATALOGUE / "locks").glob("*.txt")
    name, version = min(pin for path in locks for pin in audit.pins(path.read_text("utf-8")))
    world.holes[name, version] = [HOLE, HOLE]
    world.npm = {"vulnerabilities": {"qs": {"severity": "high"}, "send": {"severity": "low"}}}
    assert audit.main() == 0
    out = capsys.readouterr().out
    assert f"{name} {version}: 2 known, in " in out
    assert "node-express: 2 modules with known holes (1 high, 1 low)" in out


def test_an_index_that_knows_no_package_is_not_believed_and_osv_is_asked(world: World) -> None:
    world.services = {"osv"}
    world.holes["own", "1.0"] = [HOLE]
    assert audit.main() == 1
    assert world.asked[:3] == ["pypi", "osv", "osv"], "one package is asked for before all are"


def test_where_no_service_answers_nothing_is_called_clean(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.services = set()
    assert audit.main() == 3
    out = capsys.readouterr().out
    assert out.count("not checked: neither the package index nor OSV tells advisories here") == 2
    assert len(world.asked) == 4, "a service that does not answer for one package is not asked for hundreds"


def test_an_npm_registry_without_advisories_is_said(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.npm = {"message": "405 Method Not Allowed", "error": {"summary": ""}}
    assert audit.main() == 3
    assert "the npm registry tells no advisories here (405 Method Not Allowed)" in capsys.readouterr().out


def test_without_the_advisories_of_rust_its_licences_are_checked_all_the_same(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.db, world.denied = False, ["failed to satisfy license requirements"]
    assert audit.main() == 1
    out = capsys.readouterr().out
    assert "- failed to satisfy license requirements" in out
    assert "not checked: the advisory database of RustSec cannot be fetched" in out


def test_without_cargo_deny_cargo_itself_tells_licences(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.deny_installs = False
    assert audit.main() == 1
    out = capsys.readouterr().out
    assert "strange 1.0.0: licence GPL-3.0-only" in out
    assert f"cargo-deny {audit.CARGO_DENY} cannot be installed here: error: could not download" in out


@pytest.mark.parametrize(
    ("expression", "taken"),
    [
        ("MIT/Apache-2.0", True),
        ("(MIT OR GPL-3.0-only) AND Unicode-3.0", True),
        ("Apache-2.0 AND GPL-3.0-only", False),
        ("", False),
    ],
)
def test_of_an_and_every_part_has_to_be_taken(expression: str, taken: bool) -> None:
    assert audit.taken_by({"MIT", "Unicode-3.0", "Apache-2.0"}, expression) == taken


def test_a_program_that_is_not_here_is_named() -> None:
    with pytest.raises(audit.MissingError, match="there is no no-such-program on PATH"):
        audit.run(["no-such-program"])
