"""Write the reference pages that the code itself can tell: files.md, commands.md and doubts.md in docs/reference.

    uv run python tools/reference.py     (or: make docs)

The nouns and the command line stay the only place where a key or a flag is described; tests/test_docs.py fails while a
page says something else.
"""

# ruff: noqa: T201

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import types
import typing
from pathlib import Path
from typing import Any, Literal

import msgspec

from webdyno.analyse.doubts.row import EACH, About, Row
from webdyno.analyse.doubts.table import ROWS
from webdyno.model.claim import Absent, Claim, Graph, Original, OriginalFigure
from webdyno.model.contender import App, Contender, Runtime
from webdyno.model.further import Further
from webdyno.model.matrix import Exclusion, Matrix, MatrixFramework, MatrixRuntime, MatrixServer
from webdyno.model.service import Service, Way
from webdyno.model.study import Brief, Study, StudyLoad
from webdyno.model.system import System
from webdyno.model.workload import Expectation, Request, Workload

PAGES = Path(__file__).resolve().parent.parent / "docs" / "reference"
NOTE = "<!-- Written by tools/reference.py (make docs); a change made here is lost. -->"

FILES: list[tuple[type[msgspec.Struct], str]] = [
    (Contender, "contenders/NAME.toml"),
    (Matrix, "matrices/NAME.toml"),
    (MatrixFramework, "[frameworks.KEY] of a matrix"),
    (MatrixServer, "[servers.KEY] of a matrix"),
    (MatrixRuntime, "[runtimes.KEY] of a matrix"),
    (Exclusion, "[[exclude]] of a matrix"),
    (App, "apps/NAME/app.toml"),
    (Runtime, "runtimes/NAME.toml"),
    (Service, "services/NAME.toml"),
    (Way, "[[ways]] of a service"),
    (Workload, "workloads/NAME.toml"),
    (Request, "[[requests]] of a workload"),
    (Expectation, "[requests.expect] of a workload"),
    (Study, "studies/NAME.toml"),
    (StudyLoad, "[[loads]] of a study"),
    (Brief, "[brief] of a study"),
    (Further, "[further] of a study"),
    (System, "[[systems]] of a study"),
    (Claim, "[[claims]] of a study"),
    (Original, "[original] of a study"),
    (OriginalFigure, "figures of an original"),
    (Graph, "[[graphs]] of an original"),
    (Absent, "[[absent]] of a study"),
]
ABOUT: dict[About, str] = {"contender": "one contender", "table": "a table", "study": "a whole study"}
HELD_BY = {
    "measuring": "the measurement limited it",
    "warming": "it was still becoming faster",
    "counting": "answers under way at the end are in no count",
    "service": "the service limited it, unless the contender asks too much of it",
}
WORDS: dict[Any, str] = {str: "text", int: "whole number", float: "number", bool: "true or false"}


def files_page() -> str:
    """Every kind of catalogue file with all its keys."""
    head = [
        "# Catalogue files",
        NOTE,
        "",
        "Every file is TOML, and its name without `.toml` names what it describes. An unknown key, a wrong type or a",
        "name that does not exist is an error that says file, line and key. How to write one:",
        "[CONTRIBUTING.md](../../CONTRIBUTING.md).",
        "",
        "Locks are no TOML: `locks/NAME.txt` is a list of exact versions with their hashes, as pip and uv read it, for",
        "a contender in Python or for all of a matrix on one runtime. Behind the line `# built with` stands what",
        "builds its sdists. `webdyno lock` writes it, and `jars.sha256` beside an app's `pom.xml`. What is compared:",
        "[builds](../how-to/builds.md).",
    ]
    return "\n".join([*head, *(line for noun, file in FILES for line in section(noun, file))]) + "\n"


def section(noun: type[msgspec.Struct], file: str) -> list[str]:
    """One kind of file, or one table inside it."""
    hints = typing.get_type_hints(noun)
    sentences = field_sentences(noun)
    lines = ["", f"## {noun.__name__}: `{file}`", "", paragraph(inspect.getdoc(noun) or ""), ""]
    lines += ["| key | value | without it | |", "|---|---|---|---|"]
    for field in msgspec.structs.fields(noun):
        if field.name != "name" or noun in (Request, System, Absent):  # the others are named after their file
            said = paragraph(sentences.get(field.name, ""))
            lines.append(f"| `{field.name}` | {kind_of(hints[field.name])} | {default_of(field)} | {said} |")
    return lines


def kind_of(hint: Any) -> str:
    """A type in words: ``list[str]`` is a list of text."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return " or ".join(f'`"{choice}"`' for choice in arguments)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(kind_of(each) for each in arguments if each is not type(None))
    if origin is list:
        return f"list of {kind_of(arguments[0])}"
    if origin is dict:
        return f"table of {kind_of(arguments[1])}"
    if origin is tuple:
        return f"[{', '.join(kind_of(each) for each in arguments)}]"
    if hint in WORDS:
        return WORDS[hint]
    return f"[{hint.__name__}](#{anchor(hint)})"


def anchor(noun: type[msgspec.Struct]) -> str:
    """The heading of a noun's section, as links name it."""
    heading = f"{noun.__name__}: {dict(FILES)[noun]}".lower()
    return "".join(letter for letter in heading.replace(" ", "-") if letter.isalnum() or letter in "-_")


def default_of(field: msgspec.structs.FieldInfo) -> str:
    """What holds when the key is left out."""
    if field.required:
        return "**required**"
    value = field.default_factory() if field.default_factory is not msgspec.NODEFAULT else field.default
    if value is None or value in ([], {}):
        return "none"
    if isinstance(value, msgspec.Struct):
        return "its own defaults"
    return f"`{msgspec.json.encode(value).decode()}`"


def field_sentences(noun: type[msgspec.Struct]) -> dict[str, str]:
    """The text written under each field of a class, which Python itself does not keep."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(noun))).body
    found, field = {}, ""
    for node in typing.cast(ast.ClassDef, body).body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            field = node.target.id
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and field:
            found[field] = str(node.value.value)
    return found


def paragraph(text: str) -> str:
    """A docstring as one line of Markdown."""
    return " ".join(text.replace("``", "`").replace("|", "\\|").split())


def doubts_page() -> str:
    """Every kind of doubt: about what, its rule, whether it voids or shades, its limits, its numbers and what to do."""
    found: dict[str, list[Row]] = {}
    for row in ROWS:
        found.setdefault(row.kind, []).append(row)
    head = [
        "# Doubts",
        NOTE,
        "",
        "A doubt is a reason not to trust a figure, a comparison or a study. A doubt that **voids** takes a contender",
        "out of the ranking, or prevents the ranking of a table. A doubt that **shades** is shown beside the figure. A",
        "rule is silent about what was not measured.",
        "How doubts look in a report: [reading a report](../how-to/read-a-report.md).",
        "",
        "| doubt | about | |",
        "|---|---|---|",
    ]
    for kind, rows in found.items():
        link = f"[`{kind}`](#{re.sub(r'[^a-z0-9-]', '', kind)})"
        head.append(f"| {link} | {' and '.join(ABOUT[row.about] for row in rows)} | {' or '.join(rows[0].effect)} |")
    sections = [line for kind, rows in found.items() for line in doubt_section(kind, rows)]
    return "\n".join([*head, *sections]) + "\n"


def doubt_section(kind: str, rows: list[Row]) -> list[str]:
    """One kind of doubt, which may have a rule for each thing it can be about."""
    lines = ["", f"## {kind}"]
    for row in rows:
        said = paragraph(inspect.getdoc(row.rule) or "")
        lines += ["", f"About {ABOUT[row.about]}; **{' or '.join(row.effect)}**. {said}", ""]
        if row.limits:
            lines.append(f"* Limits: {'; '.join(f'`{it.name}` {shown(it.value)} {it.unit}' for it in row.limits)}.")
        if row.floor is not None:
            lifted = "Another round may lift it." if row.floor.is_luck else "More rounds do not lift it."
            lines.append(f"* Makes a rate a floor: {HELD_BY[row.floor.by]}. {lifted}")
        lines.append(f"* Numbers: {', '.join(name if name == EACH else f'`{name}`' for name in row.numbers)}.")
        lines += [f"* What to do: {paragraph(capitals(advice))}." for advice in row.advice]
    return lines


def capitals(advice: str) -> str:
    """What is filled in stands in it as its name in capitals."""
    return re.sub(r"\{(\w+)\}", lambda match: match[1].upper(), advice)


def shown(value: float | tuple[float, float]) -> str:
    """A limit, or both of a pair."""
    return " to ".join(f"{each:,.10g}" for each in (value if isinstance(value, tuple) else (value,)))


def commands_page() -> str:
    """Every command with its flags, as ``--help`` tells them."""
    from webdyno.commands import make_app

    page = make_app().generate_docs(output_format="markdown", usage_name="webdyno")
    page = re.sub(r"## Table of Contents\n.*?(?=\*\*Commands\*\*)", "", page, flags=re.S)  # the list after it says more
    title, _, rest = page.partition("\n")
    return f"{title}\n{NOTE}\n{rest.rstrip()}\n"


if __name__ == "__main__":
    for name, write in {"files.md": files_page, "commands.md": commands_page, "doubts.md": doubts_page}.items():
        (PAGES / name).write_text(write(), encoding="utf-8")
        print(f"wrote {PAGES / name}")
