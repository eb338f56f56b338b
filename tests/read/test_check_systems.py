"""Complaints about the systems of an article: whom they name, their settings, and claims about what runs none."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.fakes import catalogue
from tests.read.test_check_study import CLAIM, study
from webdyno.model.errors import CatalogueError
from webdyno.read import read_study

SYSTEM = """
[[systems]]
name = "Go 1.1"
contender = "go"
tuned = ["node"]
article = { Go = "1.1", "listen queue" = "128" }
here = { Go = "1.26" }
"""


def complaint(tmp_path: Path, more: str) -> str:
    with pytest.raises(CatalogueError) as told:
        read_study(study(tmp_path, more), catalogue("go", "node"))
    return str(told.value)


def test_a_system_is_read_with_its_settings(tmp_path: Path) -> None:
    (system,) = read_study(study(tmp_path, SYSTEM), catalogue("go", "node")).systems
    assert (system.contender, system.tuned, system.here) == ("go", ["node"], {"Go": "1.26"})


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ('contender = "go"', 'contender = "gone"', 'systems.0.contender: there is no contender of this study "gone"'),
        ('contender = "go"', 'contender = "x*"', 'systems.0.contender: there is no contender of this study "x*"'),
        ('["node"]', '["nod"]', 'systems.0.tuned.0: there is no contender of this study "nod"'),
        ('name = "Go 1.1"', 'name = " "', "systems.0.name: must not be empty"),
        ('{ Go = "1.26" }', '{ threads = "4" }', "systems.0.here.threads: is read from the contender; remove it"),
        ('{ Go = "1.26" }', '{ Perl = "5" }', "systems.0.here.Perl: has no counterpart in article"),
    ],
)
def test_faults_of_a_system_are_said(tmp_path: Path, before: str, after: str, expected: str) -> None:
    said = complaint(tmp_path, SYSTEM.replace(before, after))
    key, _, problem = expected.partition(": ")
    assert problem in said
    assert key.rpartition(".")[2] in said


def test_a_claim_of_the_article_is_about_its_systems_alone(tmp_path: Path) -> None:
    said = complaint(tmp_path, SYSTEM + CLAIM)
    assert "node runs no system of the article; name the contender of one, or set ours = true" in said


def test_what_a_claim_leaves_out_need_run_no_system(tmp_path: Path) -> None:
    every = CLAIM.replace('than = ["node"]', 'than = ["*"]')
    assert "node runs no system of the article" in complaint(tmp_path, SYSTEM + every)
    known = catalogue("go", "node")
    read = read_study(study(tmp_path, SYSTEM + every + 'without = ["nod*"]\n'), known)
    assert read.claims[0].without == ["nod*"]
    ours = CLAIM + 'ours = true\nwithout = ["x*"]\n'
    assert '"x*" fits no contender of this study' in complaint(tmp_path, SYSTEM + ours)


def test_a_pattern_of_one_matrix_means_its_contenders_alone(tmp_path: Path) -> None:
    known = msgspec.structs.replace(catalogue("go", "node"), matrix_of={"go": "fast"})
    path = study(tmp_path, SYSTEM.replace('"node"', "") + CLAIM.replace('than = ["node"]', 'than = ["*"]'))
    path.write_text(path.read_text().replace('["go", "node"]', '["fast/*"]'), encoding="utf-8")
    assert read_study(path, known).claims[0].than == ["*"]


def test_a_claim_of_ours_may_be_about_any(tmp_path: Path) -> None:
    read = read_study(study(tmp_path, SYSTEM + CLAIM + "ours = true\n"), catalogue("go", "node"))
    assert read.claims[0].ours


def test_settings_of_the_whole_article_have_something_beside_them(tmp_path: Path) -> None:
    original = """
[original]
source = "an article"
year = 2013
baseline = "go"
article = { tool = "ab" }
here = { tol = "webdyno" }
"""
    assert "tol: has no counterpart in article" in complaint(tmp_path, original)
