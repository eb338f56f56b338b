"""Compilers by what a process has mapped."""

import os
from pathlib import Path

import pytest

from webdyno.serve.compiler import compilers


def mapped(proc: Path, pid: int, *files: str) -> None:
    (proc / str(pid)).mkdir()
    lines = [
        "7ffd1000-7ffd3000 rw-p 00000000 00:00 0                          [stack]",
        "7f00-7f10 rw-p 00000000 00:00 0 ",
    ]
    lines += [f"7f20-7f30 r-xp 00000000 fd:00 123456                     {file}" for file in files]
    (proc / str(pid) / "maps").write_text("\n".join(lines))


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so", "HotSpot"),
        ("/opt/java/lib/default/libj9vm29.so", "OpenJ9"),
        ("/usr/share/dotnet/shared/Microsoft.NETCore.App/9.0.1/libclrjit.so", ".NET"),
        ("/usr/lib/x86_64-linux-gnu/libpypy3.9-c.so", "PyPy"),
        ("/opt/my tools/pypy3.11", "PyPy"),
        ("/usr/local/bin/node", "V8"),
        ("/opt/my tools/libjvm.so (deleted)", "HotSpot"),
    ],
)
def test_each_is_known_by_its_file(tmp_path: Path, file: str, name: str) -> None:
    mapped(tmp_path, 7, "/usr/lib/x86_64-linux-gnu/libc.so.6", file)
    assert compilers([7], tmp_path) == [name]


def test_what_only_sounds_like_one_is_none(tmp_path: Path) -> None:
    mapped(
        tmp_path,
        7,
        "/home/me/pypy/app.so",
        "/usr/lib/libjvmti_agent.so",
        "/usr/bin/node-exporter",
        "/usr/bin/bun",
        "/lib/notlibjvm.so",
    )
    assert compilers([7], tmp_path) == []


def test_any_process_of_the_tree_counts_and_each_compiler_once(tmp_path: Path) -> None:
    mapped(tmp_path, 7, "/bin/sh")
    mapped(tmp_path, 8, "/jdk/libjvm.so")
    mapped(tmp_path, 9, "/jdk/libjvm.so", "/usr/bin/pypy3")
    assert compilers([7, 8, 9, 10], tmp_path) == ["HotSpot", "PyPy"]


def test_this_interpreter_has_none_and_a_process_that_ended_neither() -> None:
    assert compilers([os.getpid(), 2**22 + 1]) == []
