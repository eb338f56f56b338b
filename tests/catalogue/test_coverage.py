"""The page that follows the articles: it names every claim of a study at the statement it comes from, by its text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import shipped
from webdyno.model.study import Study

PAGE = Path(__file__).parents[2] / "docs" / "studies" / "coverage.md"
OF_ARTICLES = [study for study in shipped.catalogue().studies.values() if study.original is not None]
NAMED = re.compile(r'\bclaims?( of ours)? ("[^"]*"(?:(?: \([^)|]*\))?(?:, | and )"[^"]*")*)', re.I)
"""One claim or several: `claims "A" (a note), "B" and "C"`."""


def section_of(study: Study) -> str:
    found = [part for part in PAGE.read_text("utf-8").split("\n## ")[1:] if f"`webdyno run {study.name}`\n" in part]
    assert len(found) == 1, f"{PAGE.name} needs one section whose heading ends in `webdyno run {study.name}`"
    return found[0]


def named_in(section: str, *, ours: bool) -> list[str]:
    """The texts in quotes that stand where a claim is named."""
    lists = [match[2] for match in NAMED.finditer(section) if bool(match[1]) is ours]
    return [text for quoted in lists for text in re.findall(r'"([^"]*)"', quoted)]


@pytest.mark.parametrize("study", OF_ARTICLES, ids=lambda study: study.name)
@pytest.mark.parametrize("ours", [False, True], ids=["the article's", "ours"])
def test_each_claim_of_a_study_is_named_in_its_section_and_nothing_else_is(study: Study, ours: bool) -> None:
    claims = {claim.text for claim in study.claims if claim.ours is ours}
    named = set(named_in(section_of(study), ours=ours))
    assert sorted(claims - named) == [], "claims that no statement of the article names"
    assert sorted(named - claims) == [], "named, and not a claim of the study"


@pytest.mark.parametrize("study", OF_ARTICLES, ids=lambda study: study.name)
def test_each_statement_says_where_it_stands_in_one_table_of_two_columns(study: Study) -> None:
    rows = [line for line in section_of(study).splitlines() if line.startswith("|")]
    assert rows[:2] == ["| the article | here |", "|---|---|"]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[2:]]
    assert [row for row in cells if len(row) != 2 or not all(row)] == []


@pytest.mark.parametrize("study", OF_ARTICLES, ids=lambda study: study.name)
def test_what_no_figure_decides_has_its_reason(study: Study) -> None:
    assert re.findall(r".{0,60}\bnot decided(?!: ).{0,20}", section_of(study), re.I) == []


def test_a_list_of_claims_is_read_to_its_end() -> None:
    said = 'claims "A", "B" (a note) and "C"; column "D"; claim of ours "E". Claim "F": the quarter is "ours"'
    assert named_in(said, ours=False) == ["A", "B", "C", "F"]
    assert named_in(said, ours=True) == ["E"]
