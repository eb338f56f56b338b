"""The arrows of ARCHITECTURE.md, as tables: what each place may import, and which power it may use.

Read by parsing, never by importing, so that imports inside functions and under TYPE_CHECKING count too, and so that the
test says something about files that do not even run. A place that does not exist yet is simply not visited.
"""

from __future__ import annotations

import ast
import graphlib
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "webdyno"

UPPER = {"model", "disk", "rig", "build", "service", "serve", "load", "measure"}
MAY_IMPORT: dict[str, set[str]] = {
    "model": set(),
    "read": {"model"},
    "plan": {"model", "design"},
    "histogram": {"model"},
    "wal": set(),
    "depth": set(),
    "disk": set(),
    "now": {"model", "depth"},
    "store": {"model", "histogram", "depth", "wal", "disk"},
    "export": {"model", "histogram"},
    "rig": {"model", "disk"},
    "build": {"model", "rig", "disk"},
    "service": {"model", "rig"},
    "serve": {"model", "rig", "disk"},
    "load": {"model", "histogram"},
    "measure": {"model", "rig"},
    "conduct": UPPER,
    "design": {"model", "analyse"},
    "analyse": {"model", "histogram"},
    "report": {"model", "analyse"},
    "view": {"model", "wal", "now", "store", "analyse", "report"},
}
MAY_IMPORT["session"] = set(MAY_IMPORT) - {"view"}
MAY_IMPORT["api"] = {"model", "read", "plan", "design", "store", "analyse", "session"}
MAY_IMPORT["commands"] = set(MAY_IMPORT) - {"api"}
MAY_IMPORT["__main__"] = {"commands"}

THIRD_PARTY: dict[str, set[str] | None] = {
    "msgspec": None,  # None: anywhere
    "numpy": {"analyse", "histogram", "depth"},
    "scipy": {"analyse"},
    "cyclopts": {"commands"},
    "rich": {"commands", "report/terminal"},
    "uv": {"build"},
    "resvg_py": {"report/png"},
    "pymongo": {"service"},
    "ray": {"rig/by_ray"},
}


class Power(NamedTuple):
    """Something only few may do; ``may`` maps a place (or one file of it) to the reason why it may."""

    pattern: str
    """Matches the full dotted name of what is imported, or read as an attribute of what is imported."""
    may: dict[str, str]


POWERS: dict[str, Power] = {
    "start or end a process": Power(
        r"subprocess(\..*)?|multiprocessing(\..*)?|pty(\..*)?|concurrent\.futures\.ProcessPoolExecutor"
        r"|os\.(fork\w*|exec\w+|spawn\w+|posix_spawn\w*|system|popen|kill|killpg)|asyncio\.create_subprocess_\w+",
        {"rig": "the one place that starts processes, so that it can end every one of them"},
    ),
    "read the clock": Power(
        r"time(\..*)?|datetime\.(datetime|date)\.(now|utcnow|today)|timeit(\..*)?|sched(\..*)?|asyncio\.sleep",
        {
            "rig": "waits for processes to end",
            "measure": "stamps its Readings",
            "build": "Built.seconds",
            "service": "waits until a service answers, with a limit",
            "serve": "waits for the first correct answer, with a limit",
            "conduct": "Run.started_at, Run.seconds, the limits of a Trial",
            "session": "names the results folder, keeps to budgets, waits for the machine",
            "commands": "shows the time left",
        },
    ),
    "open a socket or wait on one": Power(
        r"(socket|ssl|select|selectors|asyncio|socketserver|http\.client|http\.server|urllib\.request)(\..*)?",
        {
            "rig": "proves a port free, reads who listens",
            "service": "speaks Redis's protocol, to load its data",
            "serve": "asks for the first correct answer",
            "conduct": "waits, with a limit, for what a driver writes (selectors)",
            "view/server": "answers browsers on 127.0.0.1",
        },
    ),
    "draw without a seed": Power(
        r"random\.(?!Random\b)\w+|secrets(\..*)?|uuid(\..*)?|os\.urandom|numpy\.random\.(?!default_rng\b|Generator\b)\w+",
        {"rig": "names that no other run has"},
    ),
    "print": Power(
        r"print|sys\.(stdout|stderr|__stdout__|__stderr__)(\..*)?|rich\.(print|get_console|console\.Console)(\..*)?",
        {
            "commands/printing": "the one way to a terminal, on which all text is cleaned",
            "report/terminal": "the report people read there, on a console of commands/printing",
            "commands/trying/telling": "the answer of a try, on such a console",
        },
    ),
}


class Use(NamedTuple):
    """One name that a file takes from elsewhere."""

    line: int
    name: str
    """Dotted and in full: ``webdyno.model.run.Run``, ``os.fork``."""


def uses(source: str) -> Iterator[Use]:
    """Every import of a source, and every dotted name or bare builtin it reads through its imports."""
    nodes = list(ast.walk(ast.parse(source)))
    known = {"print": "print"}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Use(node.lineno, alias.name)
                known[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield Use(node.lineno, f"{'.' * node.level}{node.module or ''}.{alias.name}")
                known[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for node in nodes:
        if isinstance(node, ast.Attribute | ast.Name) and (name := dotted(node)):
            head, _, rest = name.partition(".")
            if head in known:
                yield Use(node.lineno, f"{known[head]}.{rest}".rstrip("."))


def dotted(node: ast.expr) -> str | None:
    """``a.b.c`` of an expression that is just that."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (before := dotted(node.value)):
        return f"{before}.{node.attr}"
    return None


def place_of(module: str) -> str:
    """``report/html`` -> ``report``."""
    return module.partition("/")[0]


def faults(module: str, source: str) -> list[str]:
    """What a file does that the tables do not grant it; ``module`` is its path below the package, without ``.py``."""
    found = {}
    for line, name in uses(source):
        fault = arrow_fault(module, name) or third_party_fault(module, name) or power_fault(module, name)
        if fault:
            found[line, fault] = f"{module}.py:{line}: {fault}"
    return list(found.values())


def arrow_fault(module: str, name: str) -> str | None:
    """Imports against the arrows."""
    if name.startswith("."):
        return f"{name} is a relative import; write it in full"
    place, target = place_of(module), ([*name.split("."), ""])[1]
    if not name.startswith("webdyno.") or target == place or target.startswith("__version"):
        return None
    may = MAY_IMPORT.get(place, set())
    if target in may:
        return None
    return f"{place} must not import {name} (it may import: {', '.join(sorted(may)) or 'nothing'})"


def third_party_fault(module: str, name: str) -> str | None:
    """Packages that are used where they should not be, or are in no table."""
    package = name.partition(".")[0]
    if package in sys.stdlib_module_names or package in {"webdyno", "print"}:
        return None
    if package not in THIRD_PARTY:
        return f"{package} is in no table; add it to THIRD_PARTY with the places that may use it"
    may = THIRD_PARTY[package]
    return None if may is None or granted(module, may) else f"{package} is for {', '.join(sorted(may))} only"


def power_fault(module: str, name: str) -> str | None:
    """Powers used where the table gives no reason for it."""
    for what, power in POWERS.items():
        if re.fullmatch(power.pattern, name) and not granted(module, power.may):
            return f"{name}: only {', '.join(power.may)} may {what}"
    return None


def granted(module: str, places: dict[str, str] | set[str]) -> bool:
    """True when the file, or the place it is in, is listed."""
    return any(module == place or module.startswith(f"{place}/") for place in places)


@cache
def modules() -> dict[str, Path]:
    """Every module of the package by its path without suffix; the catalogue is data that other programs run."""
    paths = sorted(path for path in PACKAGE.rglob("*.py") if "catalogue" not in path.relative_to(PACKAGE).parts)
    return {str(path.relative_to(PACKAGE).with_suffix("")): path for path in paths}


@pytest.mark.parametrize("place", [place for place in MAY_IMPORT if any(place_of(name) == place for name in modules())])
def test_a_place_keeps_to_its_arrows_and_powers(place: str) -> None:
    mine = {name: path for name, path in modules().items() if place_of(name) == place}
    assert [fault for name, path in mine.items() for fault in faults(name, path.read_text(encoding="utf-8"))] == []


def test_every_place_has_its_line_in_the_table() -> None:
    assert {place_of(name) for name in modules()} - set(MAY_IMPORT) == {"__init__"}


def test_the_package_itself_imports_nothing() -> None:
    assert faults("__init__", (PACKAGE / "__init__.py").read_text(encoding="utf-8")) == []


def test_no_two_modules_need_each_other_to_be_imported() -> None:
    names = {f"webdyno/{name}".removesuffix("/__init__").replace("/", "."): path for name, path in modules().items()}
    graph = {name: set(imported_at_the_top(path, set(names))) - {name} for name, path in names.items()}
    tuple(graphlib.TopologicalSorter(graph).static_order())  # CycleError names the circle


def imported_at_the_top(path: Path, known: set[str]) -> Iterator[str]:
    """Modules of ours that must be there before this one can be."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module in known:
            below = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from (below & known) or {node.module}
        elif isinstance(node, ast.Import):
            yield from {alias.name for alias in node.names} & known


def test_the_architecture_document_shows_the_same_table() -> None:
    rows = re.findall(r"^\| `(\w+)(?:/|\.py)` \|.*\| ([^|]*) \|$", (ROOT / "ARCHITECTURE.md").read_text("utf-8"), re.M)
    written = {place: may for place, may in rows if place != "catalogue"}
    everything = set(MAY_IMPORT) - {"__main__"}
    assert set(written) == everything
    for place, may in written.items():
        shown = everything - {"api"} if may == "all" else set() if may == "nothing of ours" else set(may.split(", "))
        assert shown - {place} == MAY_IMPORT[place] - {place}, place


@pytest.mark.parametrize(
    ("module", "source", "fault"),
    [
        ("report/html", "from webdyno.store import Store", "report must not import webdyno.store.Store"),
        ("analyse/rank", "def f():\n    import webdyno.rig.here", "analyse must not import webdyno.rig.here"),
        ("model/run", "from webdyno import read", "model must not import webdyno.read"),
        ("plan", "from .model import run", "relative import"),
        ("build/python", "import subprocess", "only rig may start or end a process"),
        ("serve/start", "import os\nos.killpg(1, 9)", "only rig may start or end a process"),
        ("load/wrk", "from os import execv as go", "only rig may start or end a process"),
        ("analyse/steady", "import time", "may read the clock"),
        ("plan", "from datetime import datetime\ndatetime.now()", "may read the clock"),
        ("plan", "import datetime as d\nd.datetime.now()", "may read the clock"),
        ("report/html", "import urllib.request", "may open a socket or wait on one"),
        ("plan", "import random\nrandom.shuffle([])", "may draw without a seed"),
        ("analyse/estimate", "import numpy as np\nnp.random.normal()", "may draw without a seed"),
        ("conduct", "print(1)", "may print"),
        ("report/markdown", "import sys\nsys.stdout.write('')", "may print"),
        ("commands/run", "print(1)", "may print"),
        ("commands/run", "import sys\nsys.stderr.write('')", "may print"),
        ("commands/run", "from rich.console import Console", "may print"),
        ("report/html", "from rich.table import Table", "rich is for"),
        ("rig/cores", "import numpy", "numpy is for analyse, depth, histogram only"),
        ("serve/ready", "import requests", "in no table"),
    ],
)
def test_a_breach_is_seen(module: str, source: str, fault: str) -> None:
    assert fault in "\n".join(faults(module, source))


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("report/terminal", "from rich.console import Console\nprint(Console())"),
        ("plan", "import random\nrandom.Random(7).shuffle([])"),
        ("plan", "from datetime import datetime\ndatetime.fromisoformat('')"),
        ("conduct", "from webdyno.load.driver import DRIVERS\nimport time"),
        ("commands/run", "from webdyno import __version__, store"),
        ("analyse/estimate", "import numpy as np\nnp.random.default_rng(1)"),
    ],
)
def test_what_is_granted_passes(module: str, source: str) -> None:
    assert faults(module, source) == []
