"""Put a CycloneDX 1.6 bill of materials into each wheel, where PEP 770 has it: .dist-info/sboms/.

    uv run python tools/sbom.py dist/*.whl     (or: make dist, which builds the wheels before)

The wheel of webdyno names the packages that uv.lock has for it, that of the engine the crates it is compiled from.
The same sources, tools and SOURCE_DATE_EPOCH (seconds; make dist takes the commit's) make the same bytes.
"""

# ruff: noqa: T201

from __future__ import annotations

import base64
import copy
import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
import uuid
import zipfile
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Part:
    """One package or crate in an exact version."""

    name: str
    version: str
    kind: str
    """The type of its package URL: pypi or cargo."""
    scope: ComponentScope
    uses: frozenset[str]
    """Package URLs of the parts that it needs itself."""
    licence: str | None = None
    sha256: str | None = None
    """Of the file with its sources."""
    source: str | None = None
    """Address of that file, where the registry has others too."""

    @property
    def purl(self) -> str:
        """Its package URL, which no other part has."""
        return purl(self.kind, self.name, self.version)


def purl(kind: str, name: str, version: str) -> str:
    """pypi, numpy, 2.4.6 -> pkg:pypi/numpy@2.4.6."""
    return PackageURL(kind, name=name, version=version).to_string()


def reached(start: Iterable[str], needs: Callable[[str], Iterable[str]]) -> set[str]:
    """These parts, all that they need, and all that those need."""
    waiting, seen = list(start), set()
    while waiting:
        each = waiting.pop()
        if each not in seen:
            seen.add(each)
            waiting += needs(each)
    return seen


# Python: what uv.lock has


def packages(lock: Mapping[str, Any], root: str) -> list[Part]:
    """A package of uv.lock and all it needs; what only its extras need is optional."""
    locked = {purl("pypi", each["name"], each["version"]): each for each in lock["package"]}
    [top] = [url for url, each in locked.items() if each["name"] == root]
    extras = [need for needs in locked[top].get("optional-dependencies", {}).values() for need in needs]

    def found(needs: Iterable[Mapping[str, Any]]) -> list[str]:  # a version is said where the lock has several
        wanted = [(need["name"], need.get("version")) for need in needs]
        return [
            url
            for url, it in locked.items()
            for name, of in wanted
            if it["name"] == name and of in (None, it["version"])
        ]

    def needs(url: str) -> list[str]:
        return found(locked[url].get("dependencies", []))

    required = reached([top], needs)

    def part(url: str) -> Part:
        it, sdist = locked[url], locked[url].get("sdist", {})
        return Part(
            name=it["name"],
            version=it["version"],
            kind="pypi",
            scope=ComponentScope.REQUIRED if url in required else ComponentScope.OPTIONAL,
            uses=frozenset(needs(url) + (found(extras) if url == top else [])),
            sha256=sdist.get("hash", "").removeprefix("sha256:") or None,
            source=sdist.get("url"),
        )

    return [part(url) for url in required | reached(found(extras), needs)]


# Rust: what cargo resolved for the processor that the wheel is for


def crates(metadata: Mapping[str, Any], lock: Mapping[str, Any], root: str) -> list[Part]:
    """A crate of `cargo metadata` and all it is compiled from; what only runs while it is built is excluded."""
    known = {each["id"]: each for each in metadata["packages"]}
    nodes = {each["id"]: each for each in metadata["resolve"]["nodes"]}
    checksums = {(each["name"], each["version"]): each.get("checksum") for each in lock["package"]}
    [top] = [each["id"] for each in metadata["packages"] if each["name"] == root]

    def linked(crate: str, kinds: Collection[str | None] = (None,)) -> list[str]:
        return [
            need["pkg"] for need in nodes[crate]["deps"] if any(each["kind"] in kinds for each in need["dep_kinds"])
        ]

    def needs(crate: str) -> list[str]:
        return linked(crate, (None, "build"))

    required = reached([top], linked)

    def part(crate: str) -> Part:
        it = known[crate]
        return Part(
            name=it["name"],
            version=it["version"],
            kind="cargo",
            scope=ComponentScope.REQUIRED if crate in required else ComponentScope.EXCLUDED,
            uses=frozenset(purl("cargo", known[each]["name"], known[each]["version"]) for each in needs(crate)),
            licence=(it["license"] or "").replace("/", " OR ") or None,  # a slash is what cargo had before SPDX
            sha256=checksums[it["name"], it["version"]],
        )

    return [part(crate) for crate in reached([top], needs)]


# The bill


def bill(parts: Iterable[Part], root: str, licence: str, epoch_s: int, tools: Mapping[str, str]) -> bytes:
    """CycloneDX 1.6 in JSON; `root` is the part in the wheel, `tools` (versions by name) are what compiled it."""
    components = {part.purl: component(part) for part in parts}
    [top] = [each for each in components.values() if each.name == root]
    top.type = ComponentType.APPLICATION
    top.purl = PackageURL("pypi", name=root, version=top.version)  # a wheel is what is described, whatever made it
    top.licenses = [LicenseExpression(licence)]
    top.external_references.clear()
    identity = uuid.uuid5(uuid.NAMESPACE_URL, " ".join([str(top.purl), str(epoch_s), *sorted(components)]))
    bom = Bom(serial_number=identity, components=[each for each in components.values() if each is not top])
    bom.metadata.timestamp = datetime.fromtimestamp(epoch_s, UTC)
    bom.metadata.component = top
    for name, version in tools.items():
        bom.metadata.tools.components.add(Component(type=ComponentType.APPLICATION, name=name, version=version))
    for part in parts:
        bom.register_dependency(components[part.purl], [components[each] for each in sorted(part.uses)])
    return (JsonV1Dot6(bom).output_as_string(indent=1) + "\n").encode()


def component(part: Part) -> Component:
    """A part in the words of CycloneDX."""
    hashes = [HashType(alg=HashAlgorithm.SHA_256, content=part.sha256)] if part.sha256 else []
    it = Component(name=part.name, version=part.version, bom_ref=part.purl, scope=part.scope)
    it.purl = PackageURL.from_string(part.purl)
    if part.licence:
        it.licenses.add(LicenseExpression(part.licence))
    if part.source:  # one file of several that the package comes in
        file = ExternalReference(type=ExternalReferenceType.DISTRIBUTION, url=XsUri(part.source), hashes=hashes)
        it.external_references.add(file)
    else:
        it.hashes.update(hashes)
    return it


# The wheel


def add_to_wheel(wheel: Path, content: bytes) -> None:
    """Write a bill into a wheel and its RECORD; all else in it keeps its bytes, dates and modes."""
    with zipfile.ZipFile(wheel) as archive:
        entries = [(entry, archive.read(entry)) for entry in archive.infolist()]
    [record] = [entry for entry, _ in entries if entry.filename.endswith(".dist-info/RECORD")]
    folder = record.filename.removesuffix("/RECORD")
    added = copy.copy(record)
    added.filename = f"{folder}/sboms/{folder.partition('-')[0].replace('_', '-')}.cdx.json"
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    line = f"{added.filename},sha256={digest},{len(content)}\n"
    half = wheel.with_suffix(".half")
    with zipfile.ZipFile(half, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, data in entries:
            archive.writestr(entry, line.encode() + data if entry is record else data)
        archive.writestr(added, content)
    half.replace(wheel)


def output(*command: str) -> str:
    """What a tool prints; where it fails, its own words are on the terminal."""
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def bill_of(wheel: str, epoch_s: int) -> bytes:
    """The bill of one of this checkout's wheels, by the name of its file."""
    name, platform = wheel.partition("-")[0].replace("_", "-"), wheel.removesuffix(".whl").rpartition("-")[2]
    licence = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["license"]
    if name == "webdyno":
        lock = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))
        return bill(packages(lock, name), name, licence, epoch_s, tools={})
    target = f"{'aarch64' if 'aarch64' in platform else 'x86_64'}-unknown-linux-musl"
    resolved = output("cargo", "metadata", "--locked", "--format-version=1", f"--filter-platform={target}")
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text("utf-8"))
    parts = crates(json.loads(resolved), lock, name)
    release = dict(re.findall(r"^(release): (.*)$", output("rustc", "-vV"), re.M))["release"]
    return bill(parts, name, licence, epoch_s, tools={"rustc": release} | linkers())


def linkers() -> dict[str, str]:
    """What tools/wheels.py compiles C and links by, in the versions that uv.lock has."""
    lock = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))
    return {each["name"]: each["version"] for each in lock["package"] if each["name"] in ("maturin", "ziglang")}


def main(wheels: list[str]) -> int:
    """Add a bill to each wheel."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not wheels or not epoch.isdigit():
        print("usage: SOURCE_DATE_EPOCH=SECONDS tools/sbom.py WHEEL...   (or: make dist)", file=sys.stderr)
        return 2
    for wheel in map(Path, wheels):
        content = bill_of(wheel.name, int(epoch))
        add_to_wheel(wheel, content)
        print(f"{wheel}: a bill of {len(json.loads(content)['components'])} components")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
