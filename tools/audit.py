"""Ask which packages, crates and modules have known holes, and which crates a licence or source that we do not take.

    make audit     (or: uv run python tools/audit.py)

Two verdicts. What webdyno runs itself, and is built and tested by, must have none. Contenders are run as their authors
had them, versions of 2011 among them: what is known of those is listed and counted, and fails nothing.

Exit code 0: nothing against what webdyno runs itself; 1: something; 3: this machine lacks something, or an advisory
database cannot be reached from it, so that not all was checked. Tools are pinned, and fetched at the first call:
pip-audit by uv into its cache, cargo-deny by cargo into .tools (it compiles for minutes).
"""

# ruff: noqa: T201

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CATALOGUE = ROOT / "src" / "webdyno" / "catalogue"
ENGINE = ROOT / "engine"
BIN = ROOT / ".tools" / "bin"

PIP_AUDIT = "2.10.1"
SERVICES = ("pypi", "osv")
"""Where pip-audit may look, the first that answers; a mirror of PyPI may have no advisories."""
CARGO_DENY = "0.20.2"

Pin = tuple[str, str]
"""Name and exact version of a Python package."""


class MissingError(Exception):
    """One sentence: what could not be checked here, and what to try."""


@dataclass(frozen=True)
class Done:
    """How a program ended."""

    code: int
    out: str
    err: str

    @property
    def last_words(self) -> str:
        """The last line of what it complained of."""
        return next((line.strip() for line in reversed(self.err.splitlines()) if line.strip()), f"exit {self.code}")


@dataclass(frozen=True)
class Check:
    """One question, and the function that yields what was found; it raises MissingError where it cannot know all."""

    asks: str
    findings: Callable[[], Iterator[str]]


def main() -> int:
    """Carry out every check, and say both verdicts."""
    own, lacking = said("What webdyno runs itself", OWN)
    listed, lacking_too = said("Contenders, run as their authors had them", CONTENDERS)
    missing = lacking + lacking_too
    print(f"\nWhat webdyno runs itself: findings {own}. Contenders: listed {listed}.")
    if missing:
        print(f"Not all was checked: {missing} of {len(OWN + CONTENDERS)} checks say why they are incomplete.")
    return 1 if own else 3 if missing else 0


def said(heading: str, checks: Iterable[Check]) -> tuple[int, int]:
    """Print what each check finds as it finds it; how many findings, and how many checks were incomplete."""
    print(f"== {heading}")
    found = missing = 0
    for check in checks:
        print(f"{check.asks}:", flush=True)
        before, incomplete = found, missing
        try:
            for finding in check.findings():
                print(f"  - {finding}", flush=True)
                found += 1
        except MissingError as lack:
            print(f"  not checked: {lack}")
            missing += 1
        if (found, missing) == (before, incomplete):
            print("  nothing")
    return found, missing


def run(command: list[str], folder: Path = ROOT) -> Done:
    """Run a program to its end; MissingError where there is none of that name."""
    try:
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        raise MissingError(f"there is no {command[0]} on PATH; install it and try again") from error
    return Done(done.returncode, done.stdout, done.stderr)


# Python


def own_packages() -> Iterator[str]:
    """Holes of all that uv.lock installs for us, tools and tests included."""
    everything = ["--all-extras", "--all-groups", "--no-emit-workspace", "--no-hashes"]
    exported = run(["uv", "export", "--quiet", "--frozen", *everything])
    if exported.code != 0:
        raise MissingError(f"uv cannot read uv.lock: {exported.last_words}")
    for (name, version), holes in known_holes(pins(exported.out)):
        mended = sorted({fixed for hole in holes for fixed in hole["fix_versions"]})
        names = ", ".join(sorted(hole["id"] for hole in holes))
        yield f"{name} {version}: {names}; {'mended in ' + ', '.join(mended) if mended else 'no version mends it'}"


def contenders_packages() -> Iterator[str]:
    """Holes of what the catalogue's locks install, most first."""
    locks: dict[Pin, list[str]] = defaultdict(list)
    for path in sorted((CATALOGUE / "locks").glob("*.txt")):
        for pin in pins(path.read_text("utf-8")):
            locks[pin].append(path.stem)
    for (name, version), holes in sorted(known_holes(locks), key=lambda each: (-len(each[1]), each[0])):
        users = locks[name, version]
        more = f" and {len(users) - 3} more" if len(users) > 3 else ""
        yield f"{name} {version}: {len(holes)} known, in {', '.join(users[:3])}{more}"


def pins(text: str) -> set[Pin]:
    """The exact versions in a file of requirements, whatever system they are for."""
    return set(re.findall(r"^([\w.-]+)==([^\s;\\]+)", text, re.M))


def known_holes(wanted: Iterable[Pin]) -> Iterator[tuple[Pin, list[dict[str, Any]]]]:
    """What the first service that answers knows; it is asked for one package before it is asked for all."""
    wanted = sorted(wanted)
    for service in SERVICES:
        answered = ask(service, wanted[:1]) and ask(service, wanted)
        if answered:
            break
    else:
        raise MissingError(
            "neither the package index nor OSV tells advisories here (a mirror of the index may have none); "
            "try where one can be reached, or name a mirror of OSV in PIP_AUDIT_OSV_URL"
        )
    for each in answered:
        if each.get("vulns"):
            yield (each["name"], each["version"]), each["vulns"]
    if skipped := [each["name"] for each in answered if "skip_reason" in each]:
        raise MissingError(f"{service} does not know {', '.join(skipped)}")


def ask(service: str, wanted: list[Pin]) -> list[dict[str, Any]]:
    """The answer of pip-audit for each package; nothing where the service did not answer.

    pip-audit skips a package that it cannot look up and then says that it found no hole, so an answer that skips all
    of them is none.
    It takes one version of each package at a time.
    """
    answered: list[dict[str, Any]] = []
    while wanted:
        now = dict(reversed(wanted))
        wanted = [(name, version) for name, version in wanted if now[name] != version]
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
            file.writelines(f"{name}=={version}\n" for name, version in now.items())
            file.flush()
            program = ["uv", "tool", "run", "--quiet", f"pip-audit=={PIP_AUDIT}", "--progress-spinner=off", "--no-deps"]
            done = run(
                [*program, "--disable-pip", "--format=json", f"--vulnerability-service={service}", "-r", file.name]
            )
        try:
            answered += json.loads(done.out)["dependencies"]
        except (ValueError, KeyError):
            return []
    return answered if any("skip_reason" not in each for each in answered) else []


# Rust


def crates_rules() -> Iterator[str]:
    """What engine/deny.toml does not take; without cargo-deny, sources and licences as far as cargo itself knows."""
    try:
        deny = cargo_deny()
    except MissingError:
        yield from crates_by_cargo()
        raise
    yield from denied(deny, "bans", "licenses", "sources")


def crates_holes() -> Iterator[str]:
    """Advisories of RustSec about what the engine is compiled from."""
    deny = cargo_deny()
    fetched = run([*deny, "fetch", "db"])
    if fetched.code != 0:
        raise MissingError(
            "the advisory database of RustSec cannot be fetched; try where its repository can be reached"
        )
    yield from denied(deny, "advisories")


def cargo_deny() -> list[str]:
    """The command of the pinned cargo-deny, installed where there is none."""
    program = shutil.which("cargo-deny", path=f"{BIN}{os.pathsep}{os.environ.get('PATH', os.defpath)}")
    if program is None or CARGO_DENY not in run([program, "--version"]).out.split():
        print(f"  cargo-deny {CARGO_DENY}: cargo compiles it into .tools (several minutes)", flush=True)
        install = ["cargo", "install", "cargo-deny", "--version", CARGO_DENY, "--locked", "--root", str(BIN.parent)]
        done = run(install)
        if done.code != 0:
            raise MissingError(f"cargo-deny {CARGO_DENY} cannot be installed here: {done.last_words}")
        program = str(BIN / "cargo-deny")
    return [program, "--format", "json", "--manifest-path", str(ENGINE / "Cargo.toml")]


def denied(deny: list[str], *checks: str) -> Iterator[str]:
    """The errors of cargo-deny, one line each."""
    done = run([*deny, "check", *checks])
    errors = []
    for line in done.err.splitlines():
        said = json.loads(line) if line.startswith("{") else {}
        fields = said.get("fields", {})
        if said.get("type") == "diagnostic" and fields["severity"] == "error":
            about = ", ".join(label["span"] for label in fields.get("labels", []))
            errors.append(f"{fields['message']} ({about})" if about else fields["message"])
    yield from errors
    if done.code != 0 and not errors:
        raise MissingError(f"cargo-deny could not look: {done.last_words}")


def crates_by_cargo() -> Iterator[str]:
    """Crates of Cargo.lock that are not from crates.io, and of those compiled here the licences deny.toml has not."""
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text("utf-8"))
    for each in lock["package"]:
        if each["name"] != "webdyno-engine" and "checksum" not in each:
            yield f"{each['name']} {each['version']}: comes from {each.get('source', 'a folder')}"
    taken = set(tomllib.loads((ENGINE / "deny.toml").read_text("utf-8"))["licenses"]["allow"])
    resolved = run(
        ["cargo", "metadata", "--locked", "--format-version=1", "--manifest-path", str(ENGINE / "Cargo.toml")]
    )
    if resolved.code != 0:
        raise MissingError(f"cargo cannot tell licences: {resolved.last_words}")
    for each in json.loads(resolved.out)["packages"]:
        if not taken_by(taken, each["license"] or ""):
            yield f"{each['name']} {each['version']}: licence {each['license'] or 'not said'}"


def taken_by(taken: set[str], expression: str) -> bool:
    """Whether each part of an AND has a licence that we take; the slash is what cargo had before SPDX."""
    parts = expression.replace("/", " OR ").split(" AND ")
    return all(taken & {each.strip("() ") for each in part.split(" OR ")} for part in parts)


# npm


def contenders_modules() -> Iterator[str]:
    """Holes of what the package-lock.json of each app installs."""
    for lock in sorted((CATALOGUE / "apps").glob("*/package-lock.json")):
        done = run(["npm", "audit", "--json", "--package-lock-only", "--audit=true"], lock.parent)
        try:
            answered = json.loads(done.out)
        except ValueError as error:
            raise MissingError(f"npm audit failed: {done.last_words}") from error
        if "vulnerabilities" not in answered:
            said = answered.get("message") or answered.get("error", {}).get("summary") or done.last_words
            raise MissingError(f"the npm registry tells no advisories here ({said}); try where it does")
        severities = Counter(each["severity"] for each in answered["vulnerabilities"].values())
        if severities:
            each = ", ".join(f"{number} {severity}" for severity, number in severities.most_common())
            yield f"{lock.parent.name}: {severities.total()} modules with known holes ({each})"


OWN = (
    Check("Python packages of uv.lock, their holes", own_packages),
    Check("Crates of the engine: bans, licences, sources", crates_rules),
    Check("Crates of the engine, their holes", crates_holes),
)
CONTENDERS = (
    Check("Python packages of the catalogue's locks, their holes", contenders_packages),
    Check("npm modules of the catalogue's apps, their holes", contenders_modules),
)

if __name__ == "__main__":
    sys.exit(main())
