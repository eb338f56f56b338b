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
    """Lines of what it does; what it declares (signature, docstring) may take the room it needs."""
    done = [node for node in function.body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
    return (function.end_lineno or 0) - done[0].lineno + 1 if done else 0


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
