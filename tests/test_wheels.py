"""The wheels: static, for the processor they name, tagged for glibc and for musl, and installed without a compiler."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
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
@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_each_built_wheel_is_static_and_says_so_in_its_tags(machine: str) -> None:
    [wheel] = DIST.glob(f"webdyno_engine-{VERSION}-*{machine}.whl")
    tags = wheel.stem.split("-")[-1].split(".")
    assert {f"manylinux2014_{machine}", f"musllinux_1_2_{machine}"} <= set(tags)
    assert "static" in wheels.look(wheel, machine)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        programs = b"".join(archive.read(name) for name in names if ".data/scripts/" in name)
    assert [name for name in names if name.endswith("webdyno-engine.cdx.json")]
    assert str(ROOT).encode() not in programs
    assert str(Path.home()).encode() + b"/.cargo" not in programs


@BUILT
@pytest.mark.live
@pytest.mark.timeout(300)
def test_the_wheels_install_where_there_is_no_compiler_and_measure_contenders_in_python(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("python3", "sh", "env"):
        found = sys.executable if name == "python3" else shutil.which(name)
        (programs / name).symlink_to(os.path.realpath(str(found)))
    kept = ("SSL_CERT_FILE", "UV_SYSTEM_CERTS", "UV_DEFAULT_INDEX", "https_proxy", "HTTPS_PROXY")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment |= {"HOME": str(tmp_path), "PATH": str(programs), "WEBDYNO_LOCK": str(tmp_path)}
    environment |= {
        "UV_SYSTEM_CERTS": "1",
        "UV_CACHE_DIR": os.environ.get("UV_CACHE_DIR", str(Path.home() / ".cache" / "uv")),
    }

    def do(*command: str) -> str:
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    uv = shutil.which("uv") or "uv"
    do(uv, "venv", "--quiet", "--python", os.path.realpath(sys.executable), "own")
    install = [uv, "pip", "install", "--quiet", "--python", "own/bin/python", "--only-binary", ":all:"]
    do(*install, "--find-links", str(DIST), f"webdyno=={VERSION}")
    environment["PATH"] = f"{tmp_path / 'own' / 'bin'}:{programs}"
    assert [name for name in ("cargo", "rustc", "cc", "gcc") if shutil.which(name, path=environment["PATH"])] == []
    study = ["run", "quickstart", "-k", "waitress,wsgiref", "-w", "hello", "-c", "8", "-d", "200ms"]
    said = do("own/bin/webdyno", *study, "--rounds", "3", "--exhaustive")
    assert "waitress served the most" in said or "tied" in said
    assert list(tmp_path.glob("results/*/report.html"))


def test_only_the_job_that_publishes_may_ask_for_an_identity_and_it_runs_nothing_of_ours() -> None:
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    build, publish = workflow.split("\n  publish:\n")
    assert "\npermissions: {}\n" in build
    assert "id-token" not in build
    assert "id-token: write" in publish
    assert "attestations: true" in publish
    assert "run:" not in publish
    assert "secrets." not in workflow


def setup_tool() -> Any:
    """tools/setup, which has no ending."""
    loader = importlib.machinery.SourceFileLoader("setup_tool", str(ROOT / "tools" / "setup"))
    spec = importlib.util.spec_from_loader("setup_tool", loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.mark.parametrize("published", [True, False])
def test_setup_takes_the_wheel_and_compiles_only_where_there_is_none(
    published: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "tools")
    setup, did = setup_tool(), []

    def uv(arguments: list[str], environment: dict[str, str]) -> None:
        did.append(arguments[0])
        if arguments[0] == "pip":
            assert {"--find-links=dist", "--only-binary=:all:", f"webdyno-engine=={VERSION}"} <= set(arguments)
            if not published:
                raise setup.MissingError("no such wheel")
        elif "pip" not in did:
            assert "--no-install-package=webdyno-engine" in arguments

    monkeypatch.setattr(setup, "uv", uv)
    monkeypatch.setattr(setup, "need_uv", lambda: None)
    monkeypatch.setattr(setup, "need_linker", lambda: did.append("linker"))
    monkeypatch.setattr(setup, "need_rust", lambda: did.append("rust"))
    for name in setup.MIRRORS:
        monkeypatch.delenv(name, raising=False)
    assert setup.main(["--wheel"]) == 0
    assert did == (["sync", "pip"] if published else ["sync", "pip", "linker", "rust", "sync"])
