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
import sys
import textwrap
import types
import typing
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec

from webdyno.model.claim import Absent, Claim, Original, OriginalFigure
from webdyno.model.contender import App, Contender, Runtime
from webdyno.model.matrix import Exclusion, Matrix, MatrixFramework, MatrixRuntime, MatrixServer
from webdyno.model.service import Service, Way
from webdyno.model.study import Brief, Study, StudyLoad
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
    (Claim, "[[claims]] of a study"),
    (Original, "[original] of a study"),
    (OriginalFigure, "figures of an original"),
    (Absent, "[[absent]] of a study"),
]
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
    ]
    return "\n".join([*head, *(line for noun, file in FILES for line in section(noun, file))]) + "\n"


def section(noun: type[msgspec.Struct], file: str) -> list[str]:
    """One kind of file, or one table inside it."""
    hints = typing.get_type_hints(noun)
    sentences = field_sentences(noun)
    lines = ["", f"## {noun.__name__}: `{file}`", "", paragraph(inspect.getdoc(noun) or ""), ""]
    lines += ["| key | value | without it | |", "|---|---|---|---|"]
    for field in msgspec.structs.fields(noun):
        if field.name != "name" or noun is Request:  # the others are named after their file
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
    from webdyno.analyse import doubts

    tables: dict[str, Iterable[Callable[..., Any]]] = {
        "one contender": doubts.CONTENDER_RULES,
        "a table": doubts.TABLE_RULES,
        "a whole study": doubts.STUDY_RULES,
    }
    found: dict[str, list[DoubtRule]] = {}
    for about, rules in tables.items():
        for rule in rules:
            read = DoubtRule(about, rule)
            found.setdefault(read.kind, []).append(read)
    head = [
        "# Doubts",
        NOTE,
        "",
        "A doubt is a reason not to trust a figure, a comparison or a study. One that **voids** takes a contender out",
        "of the ranking, or forbids to rank a table; one that **shades** is told beside the figure. A rule is silent",
        "about what was not measured. How doubts look in a report: [reading a report](../how-to/read-a-report.md).",
        "",
        "| doubt | about | |",
        "|---|---|---|",
    ]
    for kind, read_rules in found.items():
        link = f"[`{kind}`](#{re.sub(r'[^a-z0-9-]', '', kind)})"
        head.append(f"| {link} | {' and '.join(each.about for each in read_rules)} | {read_rules[0].effect} |")
    sections = [line for kind, read_rules in found.items() for line in doubt_section(kind, read_rules)]
    return "\n".join([*head, *sections]) + "\n"


def doubt_section(kind: str, rules: list[DoubtRule]) -> list[str]:
    """One kind of doubt, which may have a rule for each thing it can be about."""
    lines = ["", f"## {kind}"]
    for rule in rules:
        lines += ["", f"About {rule.about}; **{rule.effect}**. {rule.said}", ""]
        if rule.limits:
            lines.append(f"* Limits: {', '.join(f'`{name}` {value}' for name, value in rule.limits.items())}.")
        lines.append(f"* Numbers: {', '.join(f'`{name}`' for name in rule.numbers) or 'one by each name'}.")
        lines += [f"* What to do: {advice}." for advice in rule.advice]
    return lines


class DoubtRule:
    """What the source of one rule tells: its own function, and those of its file that it leads to."""

    def __init__(self, about: str, rule: Callable[..., Any]) -> None:
        module = sys.modules[rule.__module__]
        functions = {
            node.name: node for node in ast.parse(inspect.getsource(module)).body if isinstance(node, ast.FunctionDef)
        }
        nodes = [node for name in reached(rule.__name__, functions) for node in ast.walk(functions[name])]
        made = [
            {each.arg: each.value for each in node.keywords}
            for node in nodes
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Doubt"
        ]
        self.about, self.said = about, paragraph(inspect.getdoc(rule) or "")
        (self.kind,) = {text_of(keywords["kind"]) for keywords in made}
        self.effect = " or ".join(sorted({word for each in made for word in strings(each["severity"])}, reverse=True))
        self.advice = list(dict.fromkeys(text_of(keywords["advice"]) for keywords in made))
        dicts = [node for each in made for node in ast.walk(each["numbers"]) if isinstance(node, ast.Dict)]
        keys = [key for node in dicts or nodes if isinstance(node, ast.Dict) for key in node.keys]
        self.numbers: list[str] = list(dict.fromkeys(str(key.value) for key in keys if isinstance(key, ast.Constant)))
        names = dict.fromkeys(node.id for node in nodes if isinstance(node, ast.Name) and node.id.strip("_").isupper())
        limits = {name: getattr(module, name) for name in names if not name.startswith("_")}
        self.limits = {name: shown(value) for name, value in limits.items() if _is_number(value)}


def reached(name: str, functions: dict[str, ast.FunctionDef]) -> list[str]:
    """``name`` and the functions of its file that it uses, and those that they use."""
    found, ahead = [], [name]
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.append(name)
            used = [node.id for node in ast.walk(functions[name]) if isinstance(node, ast.Name)]
            ahead += [each for each in used if each in functions]
    return found


def text_of(node: ast.expr) -> str:
    """A text of the source; what is filled in stands in it as its name in capitals."""
    match node:
        case ast.Constant(value=str(text)):
            return paragraph(text)
        case ast.JoinedStr(values=values):
            return paragraph("".join(part_of(value) for value in values))
    raise ValueError(f"line {node.lineno}: a doubt's kind and advice are written as one text")


def part_of(node: ast.expr) -> str:
    """One part of an f-string."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.FormattedValue(value=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name.upper()
    return "..."


def strings(node: ast.expr) -> set[str]:
    """All texts an expression may come to."""
    found = {each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)}
    return {text for text in found if text in ("voids", "shades")}


def _is_number(value: object) -> bool:
    """One, or from one to another."""
    return all(isinstance(each, int | float) for each in (value if isinstance(value, tuple) else (value,)))


def shown(value: Any) -> str:
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
