"""Small files, small functions, telling names: rule 6 of ARCHITECTURE.md."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
MOST_LINES_OF_A_FILE = 400
MOST_LINES_OF_A_FUNCTION = 40
SAYS_NOTHING = {"util", "utils", "helper", "helpers", "common", "manager", "base", "misc"}

PYTHON = [*sorted((ROOT / "src").rglob("*.py")), *sorted((ROOT / "tools").glob("*.py")), ROOT / "tools" / "setup"]
RUST = sorted((ROOT / "engine" / "src").rglob("*.rs"))


def where(path: Path, line: int = 1) -> str:
    return f"{path.relative_to(ROOT)}:{line}"


def test_files_are_short() -> None:
    lengths = {where(path): len(path.read_text(encoding="utf-8").splitlines()) for path in [*PYTHON, *RUST]}
    assert {name: length for name, length in lengths.items() if length > MOST_LINES_OF_A_FILE} == {}


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of it all, signature and docstring too; decorators apart."""
    return (function.end_lineno or 0) - function.lineno + 1


def test_functions_are_short() -> None:
    long = {}
    for path in PYTHON:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef() if length(node) > MOST_LINES_OF_A_FUNCTION:
                    long[f"{where(path, node.lineno)} {node.name}"] = length(node)
    assert long == {}


def test_names_say_what_is_inside() -> None:
    modules = [path for path in [*PYTHON, *RUST] if "catalogue" not in path.parts]
    assert [where(path) for path in modules if {path.stem, path.parent.name} & SAYS_NOTHING] == []


def test_the_machine_and_its_interruption_are_one_argument() -> None:
    """``Strapped.interrupted`` is the Event: beside it, another one could only be the wrong one."""
    both = []
    for path in PYTHON:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                names = {argument.arg for argument in [*node.args.args, *node.args.kwonlyargs]}
                both += [f"{where(path, node.lineno)} {node.name}"] if {"strapped", "interrupted"} <= names else []
    assert both == []
