"""The wheels: static, for the processor they name, tagged for glibc and for musl, and installed without a compiler."""

from __future__ import annotations

import csv
import importlib.machinery
import importlib.util
import io
import os
import platform
import re
import shutil
import struct
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"
MACHINES = ("x86_64", "aarch64")
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
BUILT = pytest.mark.skipif(
    not (DIST / f"webdyno-{VERSION}-py3-none-any.whl").exists(), reason=f"no wheels of {VERSION} in dist/: make dist"
)


def load() -> Any:
    """tools/wheels.py, which is no package."""
    spec = importlib.util.spec_from_file_location("wheels", ROOT / "tools" / "wheels.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


wheels = load()


def elf(machine: int, *segments: tuple[int, bytes]) -> bytes:
    """A 64-bit ELF file of nothing but its headers and these segments."""
    head = b"\x7fELF\x02\x01".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 2, machine, 1, 0, 64, 0, 0, 64, 56, 0, 0, 0, 0
    )
    head = head[:56] + struct.pack("<H", len(segments)) + head[58:]
    at, table, contents = 64 + 56 * len(segments), b"", b""
    for kind, content in segments:
        table += struct.pack("<IIQQQQQQ", kind, 4, at + len(contents), 0, 0, len(content), len(content), 1)
        contents += content
    return head + table + contents


def test_what_a_program_asks_of_a_system_is_read_from_its_elf_file() -> None:
    assert wheels.needs(elf(62)) == (62, [])
    assert wheels.needs(elf(183, (3, b"/lib/ld-linux-aarch64.so.1\0"))) == (183, ["/lib/ld-linux-aarch64.so.1"])
    static_pie = struct.pack("<qQqQ", 7, 0x10, 0, 0)
    needing = struct.pack("<qQqQ", 1, 0x20, 0, 0)
    assert wheels.needs(elf(62, (2, static_pie))) == (62, [])
    assert wheels.needs(elf(62, (2, needing)))[1] == ["a library (name 32)"]


@pytest.mark.parametrize(
    "program",
    [elf(183), elf(62, (3, b"/lib64/ld-linux-x86-64.so.2\0")), b"#!/bin/sh\n"],
    ids=["other", "dynamic", "script"],
)
def test_a_wheel_with_a_program_for_another_processor_or_one_that_is_not_static_is_refused(
    program: bytes, tmp_path: Path
) -> None:
    wheel = tmp_path / "webdyno_engine-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("webdyno_engine-0.1.0.data/scripts/webdyno-engine", program)
    with pytest.raises(wheels.MissingError):
        wheels.look(wheel, "x86_64")


def test_no_folder_of_this_machine_gets_into_a_program() -> None:
    settings = wheels.unplaced({"CARGO_HOME": "/home/me/.cargo"})
    assert f"--remap-path-prefix={ROOT}=/webdyno" in settings["CARGO_ENCODED_RUSTFLAGS"].split("\x1f")
    assert "-ffile-prefix-map=/home/me/.cargo=/cargo" in settings["CFLAGS"].split()


@BUILT
@pytest.mark.parametrize("machine", MACHINES)
def test_each_built_wheel_is_static_and_says_so_in_its_tags(machine: str) -> None:
    [wheel] = DIST.glob(f"webdyno_engine-{VERSION}-*{machine}.whl")
    tags = wheel.stem.split("-")[-1].split(".")
    assert {f"manylinux2014_{machine}", f"musllinux_1_2_{machine}"} <= set(tags)
    assert "static" in wheels.look(wheel, machine)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        programs = b"".join(archive.read(name) for name in names if ".data/scripts/" in name)
        [said] = [archive.read(name).decode() for name in names if name.endswith(".dist-info/WHEEL")]
    assert set(re.findall(r"^Tag: py3-none-(\S+)$", said, re.M)) == set(tags)
    assert [name for name in names if name.endswith("webdyno-engine.cdx.json")]
    for folder in (ROOT, Path.home() / ".cargo", Path.home() / ".rustup"):
        assert str(folder).encode() not in programs


@BUILT
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("system", ["manylinux2014", "unknown-linux-musl"])
def test_an_installer_takes_the_wheel_for_systems_with_glibc_and_with_musl(
    system: str, machine: str, tmp_path: Path
) -> None:
    there = [f"--python-platform={machine}-{system}", f"--python={sys.executable}", f"--target={tmp_path}"]
    source = ["--no-deps", "--no-index", "--only-binary=:all:", f"--find-links={DIST}"]
    subprocess.run(["uv", "pip", "install", "--quiet", *there, *source, f"webdyno-engine=={VERSION}"], check=True)
    assert wheels.needs((tmp_path / "bin" / "webdyno-engine").read_bytes()) == (wheels.MACHINES[machine], [])


def wheel_of(package: str, folder: Path) -> Path:
    """The wheel in dist/ where `make dist` put one; else one made here, of an engine that needs this C library."""
    name = f"{package.replace('-', '_')}-{VERSION}-*{'any' if package == 'webdyno' else platform.machine()}.whl"
    for built in DIST.glob(name):
        return built
    build = ["uv", "build", "--quiet", "--wheel", f"--package={package}", f"--out-dir={folder}"]
    subprocess.run(build, cwd=ROOT, env={**os.environ, "MATURIN_NO_INSTALL_RUST": "1"}, check=True)
    [made] = folder.glob(name)
    return made


@pytest.mark.slow
def test_the_wheel_of_webdyno_has_the_catalogue_and_all_else_that_is_tracked_and_nothing_more(tmp_path: Path) -> None:
    listed = ["git", "ls-files", "--cached", "-z", "src"]
    tracked = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    with zipfile.ZipFile(wheel_of("webdyno", tmp_path)) as archive:
        inside = {name for name in archive.namelist() if not name.endswith("/") and ".dist-info/" not in name}
    assert inside == {name.removeprefix("src/") for name in tracked if name}, "is dist/ older than the sources?"
    assert "webdyno/catalogue/studies/quickstart.toml" in inside


@pytest.mark.live
@pytest.mark.timeout(600)
def test_the_wheels_install_where_there_is_no_compiler_and_measure_contenders_in_python(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("python3", "sh", "env"):
        found = sys.executable if name == "python3" else shutil.which(name)
        (programs / name).symlink_to(os.path.realpath(str(found)))
    kept = ("SSL_CERT_FILE", "UV_DEFAULT_INDEX", "https_proxy", "HTTPS_PROXY", "NO_PROXY", "no_proxy")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment |= {"HOME": str(tmp_path), "PATH": str(programs), "WEBDYNO_LOCK": str(tmp_path), "UV_SYSTEM_CERTS": "1"}
    environment["UV_CACHE_DIR"] = os.environ.get("UV_CACHE_DIR", str(Path.home() / ".cache" / "uv"))

    def do(*command: str) -> str:
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert [name for name in ("cargo", "rustc", "cc", "gcc") if shutil.which(name, path=environment["PATH"])] == []
    uv = shutil.which("uv") or "uv"
    do(uv, "venv", "--quiet", "--python", os.path.realpath(sys.executable), "own")
    install = [uv, "pip", "install", "--quiet", "--python", "own/bin/python", "--only-binary", ":all:"]
    do(*install, *(str(wheel_of(package, tmp_path)) for package in ("webdyno", "webdyno-engine")))
    # Off PATH, as what uvx and `uv tool install` make is.
    study = ["run", "quickstart", "-k", "waitress,wsgiref", "-w", "hello", "-c", "8", "-d", "200ms"]
    do("own/bin/webdyno", *study, "--rounds", "3", "--exhaustive")
    [results] = (tmp_path / "results").iterdir()
    rows = list(csv.DictReader(io.StringIO(do("own/bin/webdyno", "export", str(results), "--format", "csv"))))
    assert {row["contender"] for row in rows if int(row["ok"] or 0) > 0} == {"waitress", "wsgiref"}
    assert (results / "report.html").stat().st_size > 0


def jobs() -> dict[str, str]:
    """The jobs of the release workflow, and what stands before them under ""."""
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    before, *parts = re.split(r"^  (build|try|publish):$", text.replace("\njobs:\n", "\n"), flags=re.M)
    return {"": before} | dict(zip(parts[::2], parts[1::2], strict=True))


def test_a_tag_publishes_and_nothing_else_does() -> None:
    events = re.search(r"^on:\n((?: .*\n)+)", jobs()[""], re.M)
    assert events
    assert events[1] == '  push:\n    tags: ["v*"]\n'


def test_only_the_job_that_publishes_may_ask_for_an_identity_and_it_runs_nothing_of_ours() -> None:
    parts = jobs()
    assert list(parts) == ["", "build", "try", "publish"]
    assert "\npermissions: {}\n" in parts[""]
    assert [name for name, text in parts.items() if "id-token" in text] == ["publish"]
    assert "id-token: write" in parts["publish"]
    assert "attestations: true" in parts["publish"]
    assert "run:" not in parts["publish"]
    assert "secrets." not in "".join(parts.values())


def test_what_is_published_was_built_twice_and_tried_on_both_processors_before() -> None:
    parts = jobs()
    assert re.findall(r"make\b.* dist$", parts["build"], re.M) == ["make dist", 'make -C "$RUNNER_TEMP/elsewhere" dist']
    assert "sha256sum --check" in parts["build"]
    assert "needs: build" in parts["try"]
    assert "[ubuntu-24.04, ubuntu-24.04-arm]" in parts["try"]
    assert "pytest tests/test_wheels.py" in parts["try"]
    assert "needs: try" in parts["publish"]


def setup_tool() -> Any:
    """tools/setup, which has no ending."""
    loader = importlib.machinery.SourceFileLoader("setup_tool", str(ROOT / "tools" / "setup"))
    spec = importlib.util.spec_from_loader("setup_tool", loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.mark.parametrize("place", ["dist", "index", "nowhere"])
def test_setup_takes_the_wheel_in_dist_else_the_published_one_and_compiles_only_where_there_is_none(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "tools")
    setup, did = setup_tool(), []
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    if place == "dist":
        put(tmp_path, f"webdyno_engine-{VERSION}-py3-none-manylinux2014_{platform.machine()}.whl")

    def uv(arguments: list[str], environment: dict[str, str]) -> None:
        did.append(arguments[0])
        assert "VIRTUAL_ENV" not in environment, "the engine would be installed there"
        if arguments[0] == "pip":
            assert {"--only-binary=:all:", f"webdyno-engine=={VERSION}"} <= set(arguments)
            assert ("--no-index" in arguments) is ("--find-links=dist" in arguments) is (place == "dist")
            if place == "nowhere":
                raise setup.MissingError("no such wheel")
        elif "pip" not in did:
            assert "--no-install-package=webdyno-engine" in arguments

    monkeypatch.setattr(setup, "ROOT", tmp_path)
    monkeypatch.setattr(setup, "uv", uv)
    monkeypatch.setattr(setup, "need_uv", lambda: None)
    monkeypatch.setattr(setup, "need_linker", lambda: did.append("linker"))
    monkeypatch.setattr(setup, "need_rust", lambda: did.append("rust"))
    monkeypatch.setenv("VIRTUAL_ENV", "/home/me/mine")
    for name in setup.MIRRORS:
        monkeypatch.delenv(name, raising=False)
    assert setup.main(["--wheel"]) == 0
    assert did == (["sync", "pip", "linker", "rust", "sync"] if place == "nowhere" else ["sync", "pip"])


@pytest.mark.parametrize("narrower", [(), ("--inexact", "--no-dev")])
def test_from_a_mirror_too_what_only_tests_need_is_installed_only_where_they_are_run(
    narrower: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "tools")
    setup, did = setup_tool(), []
    monkeypatch.setattr(setup, "uv", lambda arguments, environment: did.append(arguments))
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://mirror.example/simple")
    setup.sync(*narrower)
    [export] = [arguments for arguments in did if arguments[0] == "export"]
    assert ("--no-dev" in export) is ("--no-dev" in narrower)
    assert did[-1] == ["sync", "--frozen", *narrower]


def put(folder: Path, wheel: str) -> None:
    (folder / "dist").mkdir()
    (folder / "dist" / wheel).touch()


@pytest.mark.parametrize(
    ("wheel", "flags"),
    [
        (f"webdyno_engine-{VERSION}-py3-none-manylinux2014_{platform.machine()}.whl", ["--wheel"]),
        (f"webdyno_engine-{VERSION}-py3-none-manylinux2014_mips.whl", []),
        (f"webdyno_engine-{VERSION}1-py3-none-manylinux2014_{platform.machine()}.whl", []),
        ("webdyno-0.0.0-py3-none-any.whl", []),
    ],
    ids=["ours", "of another processor", "of another version", "of no engine"],
)
def test_make_quickstart_takes_the_wheel_of_this_version_and_processor_that_lies_in_dist(
    wheel: str, flags: list[str], tmp_path: Path
) -> None:
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    put(tmp_path, wheel)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    make = ["make", "--dry-run", "quickstart"]
    said = subprocess.run(make, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True).stdout
    assert said.splitlines()[0].split() == ["tools/setup", *flags]
