"""Build the engine's wheels for x86-64 and ARM64: static programs that need no compiler and no C library to be there.

    uv run --isolated --only-group dist tools/wheels.py dist     (or: make dist)

One wheel serves every Linux of its processor: musl is linked in, so it has the tags of glibc's systems (manylinux) and
of musl's (musllinux). Zig, which is a package like any other, is the C compiler and the linker for both. Paths of this
machine are mapped away, so that the same sources, Rust and SOURCE_DATE_EPOCH make the same bytes in every folder.

Exit code 3: this machine lacks something; the last line says what, and what to try.
"""

# ruff: noqa: T201

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MACHINES = {"x86_64": 62, "aarch64": 183}
"""What a wheel is built for, and the number that ELF has for it."""
TAGS = ("manylinux2014", "musllinux_1_2")
"""The oldest systems that a wheel says it runs on; a static program would run on older ones."""
INTERPRETER, DYNAMIC = 3, 2
"""Kinds of an ELF file's segments: the path of a dynamic loader, and what that would have to read."""
NEEDED, END = 1, 0
"""Entries of the dynamic segment: a library that is needed, and the last one."""


class MissingError(Exception):
    """One sentence: what is missing and what to try."""


def main(arguments: list[str]) -> int:
    """Build each wheel and look at what is in it."""
    if len(arguments) != 1:
        print("usage: tools/wheels.py FOLDER   (or: make dist)", file=sys.stderr)
        return 2
    try:
        for machine in MACHINES:
            need_target(f"{machine}-unknown-linux-musl")
            print(f"wheels: {look(build(machine, Path(arguments[0])), machine)}")
    except MissingError as missing:
        print(f"wheels: {missing}", file=sys.stderr)
        return 3
    return 0


def need_target(target: str) -> None:
    """Rust's own library for a target: there already, or added by rustup."""
    sysroot = Path(
        subprocess.run(["rustc", "--print=sysroot"], check=True, capture_output=True, text=True).stdout.strip()
    )
    if (sysroot / "lib" / "rustlib" / target).is_dir():
        return
    ours = ROOT / ".tools" / "rust"  # where tools/setup has rustup install one
    places = [os.environ.get("PATH", ""), str(Path.home() / ".cargo" / "bin"), str(ours / "cargo" / "bin")]
    rustup = shutil.which("rustup", path=os.pathsep.join(places))
    if rustup is None or sysroot.parent.name != "toolchains":  # a system's package, which rustup cannot add to
        raise MissingError(f"the Rust in {sysroot} has no {target}; put one of rustup first on PATH: https://rustup.rs")
    print(f"wheels: rustup adds {target} to {sysroot.name}", flush=True)
    environment = {**os.environ, "RUSTUP_HOME": str(sysroot.parent.parent)}
    if subprocess.call([rustup, "target", "add", f"--toolchain={sysroot.name}", target], env=environment) != 0:
        raise MissingError(f"rustup could not add {target}, its own words are above")


def build(machine: str, folder: Path) -> Path:
    """The wheel for one processor, built by maturin and zig."""
    target = f"{machine}-unknown-linux-musl"
    command = [sys.executable, "-m", "maturin", "build", "--quiet", "--locked", "--zig", f"--target={target}"]
    command += [f"--compatibility={tag}" for tag in TAGS]
    command += [f"--manifest-path={ROOT / 'engine' / 'Cargo.toml'}", f"--out={folder}"]
    before = set(folder.glob("*.whl"))
    if subprocess.call(command, env={**os.environ, **unplaced(os.environ)}) != 0:
        raise MissingError(f"the engine's wheel for {machine} could not be built, maturin's own words are above")
    [wheel] = set(folder.glob(f"webdyno_engine-*{machine}.whl")) - before
    return wheel


def unplaced(environment: os._Environ[str] | dict[str, str]) -> dict[str, str]:
    """Settings by which compilers write names of sources without the folders of this machine."""
    cargo = environment.get("CARGO_HOME") or str(Path.home() / ".cargo")
    mapped = {str(ROOT): "/webdyno", cargo: "/cargo"}
    rust = "\x1f".join(f"--remap-path-prefix={old}={new}" for old, new in mapped.items())
    c = " ".join(f"-ffile-prefix-map={old}={new}" for old, new in mapped.items())
    return {"CARGO_ENCODED_RUSTFLAGS": rust, "CFLAGS": c}


def look(wheel: Path, machine: str) -> str:
    """One line about a wheel; a program in it that is for another processor, or is not static, is refused."""
    with zipfile.ZipFile(wheel) as archive:
        programs = [name for name in archive.namelist() if ".data/scripts/" in name]
        wanted = {name: needs(archive.read(name)) for name in programs}
    for name, (number, libraries) in wanted.items():
        if number != MACHINES[machine] or libraries:
            raise MissingError(
                f"{name} in {wheel.name} is for ELF machine {number} and needs {libraries}: not published"
            )
    if not wanted:
        raise MissingError(f"{wheel.name} has no program in it")
    return f"{wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB, static"


def needs(program: bytes) -> tuple[int, list[str]]:
    """What a 64-bit little-endian ELF program is for, and all it asks of a system: a dynamic loader, libraries."""
    if program[:6] != b"\x7fELF\x02\x01":
        raise MissingError("a program in the wheel is not 64-bit ELF")
    (machine,) = struct.unpack_from("<H", program, 18)
    (table,) = struct.unpack_from("<Q", program, 32)
    size, count = struct.unpack_from("<HH", program, 54)
    asked = []
    for at in range(table, table + size * count, size):
        kind, _, start, _, _, length = struct.unpack_from("<IIQQQQ", program, at)
        if kind == INTERPRETER:
            asked.append(program[start : start + length].rstrip(b"\0").decode())
        if kind == DYNAMIC:
            asked += libraries(program[start : start + length])
    return machine, asked


def libraries(dynamic: bytes) -> list[str]:
    """Those that a dynamic segment names, by where their names stand: any at all is one too many."""
    found = []
    for tag, value in struct.iter_unpack("<qQ", dynamic):
        if tag == END:
            break
        if tag == NEEDED:
            found.append(f"a library (name {value})")
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
