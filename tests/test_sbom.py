"""The bill of materials in a wheel: it says what is in it, keeps to the schema, and is the same each time."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import sys
import tomllib
import zipfile
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator
from referencing import Registry, Resource

ROOT = Path(__file__).parent.parent


def load(name: str) -> Any:
    """A tool, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


sbom = load("sbom")
LOCK = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))
EPOCH_S = 1_700_000_000


def crate(name: str, licence: str, *needs: tuple[str, str | None]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What `cargo metadata` says of a crate, in its list of packages and in what it resolved."""
    deps = [{"pkg": f"id of {each}", "dep_kinds": [{"kind": kind}]} for each, kind in needs]
    return {"id": f"id of {name}", "name": name, "version": "1.0.0", "license": licence}, {
        "id": f"id of {name}",
        "deps": deps,
    }


CRATES = [
    crate("webdyno-engine", "Apache-2.0", ("ring", None), ("rcgen", "dev")),
    crate("ring", "Apache-2.0 AND ISC", ("cc", "build"), ("libc", None)),
    crate("libc", "MIT/Apache-2.0"),
    crate("cc", "MIT"),
    crate("rcgen", "MIT"),
]
METADATA = {"packages": [one for one, _ in CRATES], "resolve": {"nodes": [other for _, other in CRATES]}}
CARGO_LOCK = {
    "package": [
        {"name": one["name"], "version": "1.0.0"} | ({} if "engine" in one["name"] else {"checksum": "ab" * 32})
        for one, _ in CRATES
    ]
}


def of_webdyno() -> bytes:
    content: bytes = sbom.bill(sbom.packages(LOCK, "webdyno"), "webdyno", "Apache-2.0", EPOCH_S, {})
    return content


def of_engine() -> bytes:
    parts = sbom.crates(METADATA, CARGO_LOCK, "webdyno-engine")
    content: bytes = sbom.bill(parts, "webdyno-engine", "Apache-2.0", EPOCH_S, {"rustc": "1.96.0"})
    return content


def schema() -> Draft7Validator:
    """That of CycloneDX 1.6, as the library brings it."""
    folder = files("cyclonedx.schema") / "_res"
    names = ("bom-1.6", "spdx", "jsf-0.82", "cryptography-defs")
    texts = [json.loads((folder / f"{name}.SNAPSHOT.schema.json").read_text("utf-8")) for name in names]
    registry: Registry[Any] = Registry().with_resources((text["$id"], Resource.from_contents(text)) for text in texts)
    return Draft7Validator(texts[0], registry=registry)


@pytest.mark.parametrize("make", [of_webdyno, of_engine])
def test_a_bill_keeps_to_the_schema_of_cyclonedx_1_6(make: Any) -> None:
    told = json.loads(make())
    assert told["specVersion"] == "1.6"
    assert [error.message for error in schema().iter_errors(told)] == []
    del told["components"][0]["name"]
    assert not schema().is_valid(told)


@pytest.mark.parametrize("make", [of_webdyno, of_engine])
def test_a_bill_is_the_same_each_time_and_names_the_date_of_its_sources(make: Any) -> None:
    assert make() == make()
    assert json.loads(make())["metadata"]["timestamp"] == "2023-11-14T22:13:20+00:00"


def test_the_bill_of_webdyno_has_what_it_requires_and_what_its_extras_do_but_no_tool_of_ours() -> None:
    told = {each["purl"]: each for each in json.loads(of_webdyno())["components"]}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    required = {f"pkg:pypi/{each.replace('==', '@')}" for each in project["dependencies"]}
    assert required <= {purl for purl, each in told.items() if each["scope"] == "required"}
    optional = {each["name"] for each in told.values() if each["scope"] == "optional"}
    assert {"resvg-py", "ray"} <= optional and not {"pytest", "ruff", "mypy", "hypothesis"} & optional
    assert {"pytest", "mypy", "cyclonedx-python-lib"} & {each["name"] for each in told.values()} == set()
    assert "dnspython" in {each["name"] for each in told.values()}, "pymongo needs it"


def test_the_bill_of_the_engine_has_what_is_compiled_in_and_marks_what_only_builds_it() -> None:
    told = json.loads(of_engine())
    assert {each["name"]: each["scope"] for each in told["components"]} == {
        "ring": "required",
        "libc": "required",
        "cc": "excluded",
    }
    libc = next(each for each in told["components"] if each["name"] == "libc")
    assert libc["licenses"] == [{"expression": "MIT OR Apache-2.0"}]
    assert libc["hashes"] == [{"alg": "SHA-256", "content": "ab" * 32}]
    assert {each["ref"]: each.get("dependsOn") for each in told["dependencies"]}["pkg:cargo/ring@1.0.0"] == [
        "pkg:cargo/cc@1.0.0",
        "pkg:cargo/libc@1.0.0",
    ]
    assert told["metadata"]["component"]["purl"] == "pkg:pypi/webdyno-engine@1.0.0"


def test_a_wheel_gets_its_bill_where_pep_770_has_it_and_a_line_in_its_record(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        wheel = tmp_path / name / "webdyno_engine-0.1.0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            program = zipfile.ZipInfo("webdyno_engine-0.1.0.data/scripts/engine", (2026, 1, 2, 3, 4, 6))
            program.external_attr = 0o755 << 16
            archive.writestr(program, b"\x7fELF")
            record = zipfile.ZipInfo("webdyno_engine-0.1.0.dist-info/RECORD", (2026, 1, 2, 3, 4, 6))
            archive.writestr(record, "webdyno_engine-0.1.0.dist-info/RECORD,,\n")
        sbom.add_to_wheel(wheel, b"{}\n")
    place = "webdyno_engine-0.1.0.dist-info/sboms/webdyno-engine.cdx.json"
    digest = base64.urlsafe_b64encode(hashlib.sha256(b"{}\n").digest()).decode().rstrip("=")
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read(place) == b"{}\n"
        assert f"{place},sha256={digest},3\n" in archive.read("webdyno_engine-0.1.0.dist-info/RECORD").decode()
        assert archive.getinfo("webdyno_engine-0.1.0.data/scripts/engine").external_attr == 0o755 << 16
    assert wheel.read_bytes() == (tmp_path / "one" / wheel.name).read_bytes()


def test_without_a_date_nothing_is_made(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert sbom.main(["dist/webdyno-0.1.0-py3-none-any.whl"]) == 2
    assert "SOURCE_DATE_EPOCH" in capsys.readouterr().err
