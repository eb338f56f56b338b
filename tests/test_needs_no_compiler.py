"""Nothing that is installed with webdyno is compiled: there are wheels for every Python and processor it is for."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import Marker
from packaging.specifiers import SpecifierSet
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import parse_wheel_filename

ROOT = Path(__file__).parent.parent
LOCK = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
OURS = {each["name"]: each for each in LOCK["package"] if "editable" in each["source"]}
PYTHONS = [minor for minor in range(40) if SpecifierSet(PROJECT["requires-python"]).contains(f"3.{minor}.9")]
OLDEST_GLIBC = 35
"""2.35, of Ubuntu 22.04, which README.md names."""


def there(minor: int, machine: str) -> dict[str, str]:
    """What markers ask of a system."""
    python = {"python_version": f"3.{minor}", "python_full_version": f"3.{minor}.9", "implementation_name": "cpython"}
    system = {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix", "platform_machine": machine}
    return python | system | {"platform_python_implementation": "CPython"}


def installed(minor: int, machine: str) -> Iterator[dict[str, Any]]:
    """Every package that ``make quickstart`` installs: what webdyno needs, and the group dev."""
    waiting = OURS["webdyno"]["dependencies"] + OURS["webdyno"]["dev-dependencies"]["dev"]
    seen = set()
    while waiting:
        need = waiting.pop()
        if "marker" in need and not Marker(need["marker"]).evaluate(there(minor, machine)):
            continue
        named = [each for each in LOCK["package"] if each["name"] == need["name"]]
        [package] = [each for each in named if need.get("version", each.get("version")) == each.get("version")]
        for extra in ["", *need.get("extra", [])]:
            if (package["name"], extra) in seen:
                continue
            seen.add((package["name"], extra))
            optional = package.get("optional-dependencies", {})
            waiting += optional.get(extra, []) if extra else package.get("dependencies", [])
            if not extra and package["name"] not in OURS:
                yield package


@cache
def taken(minor: int, machine: str) -> frozenset[Tag]:
    """The tags of wheels that an installer takes there."""
    names = [f"2_{number}" for number in range(OLDEST_GLIBC, 4, -1)] + ["2014", "2010", "1"]
    platforms = [f"manylinux{'_' if '_' in name else ''}{name}_{machine}" for name in names]
    own = cpython_tags((3, minor), abis=[f"cp3{minor}"], platforms=platforms)
    return frozenset({*own, *compatible_tags((3, minor), f"cp3{minor}", platforms)})


def has_wheel(package: dict[str, Any], minor: int, machine: str) -> bool:
    files = [wheel["url"].rpartition("/")[2] for wheel in package.get("wheels", [])]
    return any(parse_wheel_filename(file)[3] & taken(minor, machine) for file in files)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("minor", PYTHONS)
def test_every_package_has_a_wheel_for(minor: int, machine: str) -> None:
    packages = list(installed(minor, machine))
    assert {"numpy", "scipy", "msgspec", "uv", "pytest", "resvg-py"} <= {each["name"] for each in packages}
    assert [each["name"] for each in packages if not has_wheel(each, minor, machine)] == []


def test_a_wheel_for_another_processor_another_python_or_a_newer_c_library_is_none() -> None:
    file = "https://example.org/x-1-cp312-cp312-manylinux_2_28_x86_64.whl"
    package = {"wheels": [{"url": file}]}
    assert has_wheel(package, 12, "x86_64")
    assert not has_wheel(package, 13, "x86_64")
    assert not has_wheel(package, 12, "aarch64")
    assert not has_wheel({"wheels": [{"url": file.replace("2_28", "2_39")}]}, 12, "x86_64")
    assert not has_wheel({}, 12, "x86_64")


def test_the_oldest_and_the_newest_python_that_can_be_had_without_a_compiler_are_the_ones_we_are_for() -> None:
    assert PYTHONS == [11, 12, 13, 14]
