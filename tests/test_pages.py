"""The site of the documents: every page has its place in it, links are followed, and nothing comes from elsewhere."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
QUESTIONS = (
    *("install", "first time", "own application", "settings", "slower", "load", "report", "trust", "add", "CI"),
    *("list of servers", "command", "word", "report to look at", "recorded", "log", "browser", "URL", "downloaded"),
    "interrupted",
)


def load() -> Any:
    """tools/pages.py, which is no package."""
    spec = importlib.util.spec_from_file_location("pages_of_documents", ROOT / "tools" / "pages.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


site = load()


def test_every_document_is_in_the_sites_navigation() -> None:
    named = set(re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.M))
    pages = {str(place.relative_to(site.PAGES)) for place in site.documents().values() if place.suffix == ".md"}
    assert pages - named == {"README.md"}, "index.md stands for it"
    assert named <= pages


def test_the_questions_of_a_newcomer_are_one_click_from_the_front_page() -> None:
    rows = re.findall(r"^\| (.*) \| \[.*\]\((\S+)\).* \|$", (ROOT / "docs" / "index.md").read_text("utf-8"), re.M)
    assert [question for question, (row, _) in zip(QUESTIONS, rows, strict=True) if question not in row] == []


def test_links_above_and_into_docs_are_turned_to_where_the_pages_lie_in_the_site() -> None:
    assert "](CONTRIBUTING.md#a-contender-in-ten-lines)" in site.relinked(ROOT / "docs" / "index.md")
    assert "](concepts.md)" in site.relinked(ROOT / "CONTRIBUTING.md")
    assert "](../action.yml)" in site.relinked(ROOT / "docs" / "how-to" / "compare-in-ci.md")


def test_no_link_leads_to_an_anchor_that_a_forge_and_the_site_spell_differently() -> None:
    """Punctuation between two blanks leaves two dashes in the one and one in the other."""
    texts = {page.name: page.read_text("utf-8") for page in site.documents() if page.suffix == ".md"}
    assert {name for name, text in texts.items() if re.search(r"\]\([^)\s]*#[^)\s]*--[^)\s]*\)", text)} == set()


def test_a_link_to_nothing_an_anchor_that_is_not_there_and_what_is_loaded_from_elsewhere_are_found(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.html").write_text(
        '<h2 id="here"></h2><a href="#here">x</a><a href="b.html#gone">y</a><a href="c.html">z</a>'
    )
    (tmp_path / "b.html").write_text(
        '<script src="https://cdn.example/x.js"></script><a href="https://example.org/">x</a>'
    )
    assert sorted(site.broken(tmp_path)) == [
        "a.html: b.html#gone leads nowhere",
        "a.html: c.html leads nowhere",
        "b.html: loads https://cdn.example/x.js",
    ]


def test_no_sample_names_a_folder_of_the_machine_it_was_measured_on() -> None:
    samples = sorted((ROOT / "docs" / "samples").glob("*.html"))
    assert {each.stem for each in samples} == {"quickstart", "hello", "wsgi", "battle", "blocking", "pypy"}
    assert [each.name for each in samples if re.search(r"/(root|home/\w+)/", each.read_text("utf-8"))] == []
