"""The counts of the fuzzer: they add up and are on the page; every target has its folder, its check and its line."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def fuzz() -> ModuleType:
    """tools/fuzz.py, which is no package."""
    spec = importlib.util.spec_from_file_location("fuzz", ROOT / "tools" / "fuzz.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pieces_add_up_and_survive_the_file(fuzz: ModuleType, tmp_path: Path) -> None:
    counts = fuzz.added({}, "heads", "fast", fuzz.Count(1_000, 2.0, 0, "2026-01-01", "a"))
    counts = fuzz.added(counts, "heads", "fast", fuzz.Count(500, 1.5, 1, "2026-01-02", "b+"))
    assert counts == {("heads", "fast"): fuzz.Count(1_500, 3.5, 1, "2026-01-02", "b+")}
    path = tmp_path / "counts.toml"
    path.write_text(fuzz.as_toml(counts), encoding="utf-8")
    assert fuzz.read_counts(path) == counts
    assert "| heads | fast | 1,500 | 4 | 429 | 1 | 2026-01-02 | b+ |" in fuzz.as_table(counts)


def test_the_counts_written_down_are_those_on_the_page(fuzz: ModuleType) -> None:
    page = fuzz.PAGE.read_text("utf-8")
    assert page == fuzz.on_page(page, fuzz.read_counts())


def test_every_target_is_built_explained_and_small(fuzz: ModuleType) -> None:
    names = fuzz.targets()
    built = re.findall(r'^name = "(\w+)"\npath', (ROOT / "engine/fuzz/Cargo.toml").read_text("utf-8"), re.M)
    assert sorted(built) == names
    explained = re.findall(r"^\| (\w+) \| .* \| .* \|$", fuzz.PAGE.read_text("utf-8").partition(fuzz.BEGIN)[0], re.M)
    assert sorted(set(explained) - {"target"}) == names
    size = sum(path.stat().st_size for path in (ROOT / "engine/fuzz/corpus").rglob("*") if path.is_file())
    assert size < 2 << 20
