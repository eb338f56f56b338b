"""What others publish is named by its content: actions by the hash of a commit, packages and crates by a checksum."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PLACES = ("*.md", "*.yml", "docs/**/*.md", "examples/**/*.md", "engine/*.md", ".github/**/*.y*ml", "examples/**/*.y*ml")
OURS = "OWNER/webdyno@REVISION"
"""A placeholder in documents; the text beside it asks for the full hash."""
USES = re.compile(r"^\s*(?:- )?uses:\s*(.*?)\s*$", re.M)
PINNED = re.compile(r"(?:\./\S*|[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)")


def unpinned(text: str) -> list[str]:
    return [used for used in USES.findall(text) if used != OURS and not PINNED.fullmatch(used)]


def test_every_action_is_named_by_the_hash_of_a_commit_and_its_version() -> None:
    files = sorted({path for place in PLACES for path in ROOT.glob(place)})
    found = {path: USES.findall(path.read_text("utf-8")) for path in files}
    assert any(found.values()), "no document shows a workflow any more: is this test looking in the right places?"
    bad = {str(path.relative_to(ROOT)): unpinned(path.read_text("utf-8")) for path in files}
    assert {name: uses for name, uses in bad.items() if uses} == {}


@pytest.mark.parametrize(
    "used",
    ["actions/checkout@v7", "actions/checkout@main", f"actions/checkout@{'a' * 40}", f"a/b@{'a' * 39} # v1.2.3"],
)
def test_a_tag_a_branch_a_short_hash_and_a_hash_without_its_version_are_refused(used: str) -> None:
    assert unpinned(f"steps:\n  - uses: {used}\n") == [used]


@pytest.mark.parametrize("used", [f"actions/checkout@{'a1' * 20} # v7.0.1", "./", OURS])
def test_a_full_hash_with_its_version_is_taken(used: str) -> None:
    assert unpinned(f"steps:\n  - name: x\n    uses: {used}\n") == []


@pytest.mark.parametrize("lock", ["Cargo.lock", "engine/fuzz/Cargo.lock"])
def test_every_crate_has_a_checksum(lock: str) -> None:
    locked = tomllib.loads((ROOT / lock).read_text("utf-8"))["package"]
    assert {each["name"] for each in locked if "checksum" not in each} <= {"webdyno-engine", "webdyno-engine-fuzz"}


def test_every_file_of_a_package_has_a_hash() -> None:
    locked = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))["package"]
    files = {each["name"]: [*each.get("wheels", []), *filter(None, [each.get("sdist")])] for each in locked}
    assert {name for name, those in files.items() if not those} == {"webdyno", "webdyno-engine"}
    assert [file for those in files.values() for file in those if not file.get("hash", "").startswith("sha256:")] == []
