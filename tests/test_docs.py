"""Documents that cannot fall behind: what they name exists, what exists is named, what is generated is up to date."""

from __future__ import annotations

import ast
import importlib.util
import re
import shlex
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from webdyno.read import default_folder, read_catalogue
from webdyno.store.schema import TABLES

ROOT = Path(__file__).parent.parent
MODEL = ROOT / "src" / "webdyno" / "model"
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
IDS = [str(path.relative_to(ROOT)) for path in DOCUMENTS]


def nouns() -> list[str]:
    """The public types of the model, its exceptions apart (their tree is drawn in errors.py)."""
    trees = [ast.parse(path.read_text("utf-8")) for path in sorted(MODEL.glob("*.py")) if path.name != "errors.py"]
    classes = [node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)]
    return [name for name in classes if not name.startswith("_")]


def test_the_glossary_has_one_line_for_every_noun() -> None:
    lines = (ROOT / "docs" / "concepts.md").read_text("utf-8").splitlines()
    entries = [match[1] for line in lines if (match := re.match(r"\| \*\*(\w+)\*\* \| ", line))]
    assert [name for name in nouns() if entries.count(name) != 1] == []


def test_the_exceptions_are_all_in_the_tree_drawn_for_them() -> None:
    tree = ast.parse((MODEL / "errors.py").read_text("utf-8"))
    drawn = ast.get_docstring(tree) or ""
    assert [node.name for node in tree.body if isinstance(node, ast.ClassDef) and node.name not in drawn] == []


def reference() -> ModuleType:
    """tools/reference.py, which is no package."""
    spec = importlib.util.spec_from_file_location("reference", ROOT / "tools" / "reference.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_catalogue_files_is_up_to_date() -> None:
    page = (ROOT / "docs" / "reference" / "files.md").read_text("utf-8")
    assert page == reference().files_page(), "run: make docs"


def test_the_page_of_doubts_is_up_to_date() -> None:
    page = (ROOT / "docs" / "reference" / "doubts.md").read_text("utf-8")
    assert page == reference().doubts_page(), "run: make docs"


def test_the_page_of_commands_is_up_to_date() -> None:
    try:
        page = reference().commands_page()
    except (ImportError, AttributeError) as error:  # cyclopts loads each command to describe it
        pytest.skip(f"not every command is there yet: {error}")
    assert (ROOT / "docs" / "reference" / "commands.md").read_text("utf-8") == page, "run: make docs"


def test_every_command_is_on_the_page_of_commands() -> None:
    path = ROOT / "docs" / "reference" / "commands.md"
    if not path.exists():
        pytest.skip("docs/reference/commands.md is not written yet: make docs")
    page = path.read_text("utf-8")
    assert [name for name in commands() if f"webdyno {name}" not in page] == []


def commands() -> set[str]:
    """Names of the subcommands, without loading them."""
    from webdyno.commands import COMMANDS

    return set(COMMANDS)


def targets() -> set[str]:
    """Names that ``make`` takes."""
    return set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.M))


def test_the_files_shown_to_contributors_are_right(tmp_path: Path) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    shown = re.findall(r"^```(?:toml|python)\n# (\S+/\S+)\n(.*?)^```", text, re.M | re.S)
    for name, content in shown:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    catalogue = read_catalogue([default_folder(), tmp_path])
    assert {"uvicorn-h11", "my-shop-waitress"} <= set(catalogue.contenders)
    assert {"my-shop"} <= set(catalogue.studies)


def test_the_queries_shown_for_a_results_file_run() -> None:
    queries = re.findall(
        r"^```sql\n(.*?)^```", (ROOT / "docs" / "reference" / "results.md").read_text("utf-8"), re.M | re.S
    )
    database = sqlite3.connect(":memory:")
    database.executescript(TABLES)
    assert queries
    assert [database.execute(query).fetchall() for query in queries] == [[]] * len(queries)
    database.close()


def test_every_table_of_a_results_file_is_described() -> None:
    page = (ROOT / "docs" / "reference" / "results.md").read_text("utf-8")
    tables = re.findall(r"CREATE (?:TABLE|VIEW) (\w+)", TABLES)
    assert [name for name in tables if f"\n| `{name}` |" not in page] == []


def shell_lines(text: str) -> Iterator[str]:
    """Lines a reader would type: those of ``sh`` blocks, up to a comment, outputs (in other blocks) apart."""
    for block in re.findall(r"^ *```sh\n(.*?)^ *```", text, re.M | re.S):
        yield from (line.strip() for line in block.splitlines() if line.strip() and not line.strip().startswith("#"))


@pytest.mark.parametrize("path", DOCUMENTS, ids=IDS)
def test_commands_in_documents_exist(path: Path) -> None:
    unknown = []
    for line in shell_lines(path.read_text("utf-8")):
        words = shlex.split(line, comments=True)
        program = words[words.index("webdyno") :] if "webdyno" in words else words
        known = {"webdyno": commands, "make": targets}.get(program[0])
        if known and len(program) > 1 and not program[1].startswith("-") and program[1] not in known():
            unknown.append(line)
    assert unknown == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=IDS)
def test_links_between_documents_lead_somewhere(path: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text("utf-8"), flags=re.S)
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, heading = target.partition("#")
        there = (path.parent / file) if file else path
        if not there.exists() or (heading and heading not in anchors(there)):
            broken.append(target)
    assert broken == []


def anchors(path: Path) -> set[str]:
    """The headings of a document as links name them."""
    headings = re.findall(r"^#+ +(.*?)$", path.read_text("utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_tests_that_documents_name_are_there() -> None:
    named = {
        match
        for path in DOCUMENTS
        for match in re.findall(r"`((?:engine/)?tests/[\w/]+\.(?:py|rs))(?:::(\w+))?`", path.read_text("utf-8"))
    }
    assert named
    assert [(file, test) for file, test in sorted(named) if not is_there(ROOT / file, test)] == []


def is_there(file: Path, test: str) -> bool:
    """A file, and where one is named, a test in it."""
    if not file.is_file() or not test:
        return file.is_file()
    return re.search(rf"^ *(?:def|fn) {test}\(", file.read_text("utf-8"), re.M) is not None


def rows(page: str, heading: str) -> list[str]:
    """Rows of all tables on ``page`` with that heading."""
    line = re.escape("\n" + heading) + r"\n\|[-|]+\|\n((?:\|.*\n)*)"
    return [row for table in re.findall(line, (ROOT / page).read_text("utf-8")) for row in table.splitlines()]


@pytest.mark.parametrize(
    ("page", "heading", "least"),
    [
        ("SECURITY.md", "| promise | test |", 15),
        ("docs/how-to/trust-the-rig.md", "| what happens | what is promised | test |", 5),
    ],
)
def test_each_promise_names_its_test(page: str, heading: str, least: int) -> None:
    promises = rows(page, heading)
    assert len(promises) >= least
    assert [row for row in promises if not re.search(r"`tests/[\w/]+\.py[^|]*\|$", row)] == []


def test_every_file_of_provoked_faults_is_on_the_page_of_what_is_promised() -> None:
    page = (ROOT / "docs" / "how-to" / "trust-the-rig.md").read_text("utf-8")
    files = [f"tests/torture/{path.name}" for path in (ROOT / "tests" / "torture").glob("test_*.py")]
    assert [file for file in files if f"`{file}" not in page] == []


def outside_outputs(path: Path) -> str:
    return re.sub(r"```.*?```", "", path.read_text("utf-8"), flags=re.S)


@pytest.mark.parametrize(
    "path",
    [path for path in DOCUMENTS if path.parent.name != "studies"],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_a_document_has_no_heading_twice(path: Path) -> None:
    """A merge of two versions once left both of them on a page, the old one below the new."""
    headings = re.findall(r"^#+ .*$", outside_outputs(path), re.M)
    assert sorted(headings) == sorted(set(headings))


def test_no_row_of_the_list_of_documents_stands_twice() -> None:
    for page in ("docs/start.md", "docs/index.md"):
        links = re.findall(r"^\| .* \| (\[.*) \|$", outside_outputs(ROOT / page), re.M)
        assert len(links) >= 10
        assert sorted(links) == sorted(set(links))
