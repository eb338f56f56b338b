"""Complaints about a study's claims, its brief version and its original: file, line, key, and what would be right."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes import catalogue
from webdyno.model.errors import CatalogueError
from webdyno.read import read_study

HEAD = """title = "A study"
question = "Who?"
contenders = ["go", "node"]
workloads = ["hello", "json"]

[[loads]]
connections = [8, 64]
duration_s = 2
"""
CLAIM = """
[[claims]]
text = "Go is ahead"
contenders = ["go"]
relation = "more than"
than = ["node"]
"""


def study(tmp_path: Path, more: str) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(HEAD + more, encoding="utf-8")
    return path


def test_a_sound_study_is_read_with_all_it_claims(tmp_path: Path) -> None:
    original = """
[brief]
rounds = 2
[[brief.loads]]
connections = [8]
duration_s = 0.5
driver = "ab"
[original]
source = "an article"
year = 2013
baseline = "go"
figures = [{ contender = "node", workload = "hello", connections = 50, measure = "p99", value = 3 }]
[[absent]]
name = "Perl"
reason = "nobody packages what it used"
instead = ["go"]
"""
    read = read_study(study(tmp_path, CLAIM + original), catalogue("go", "node"))
    assert read.claims[0].than == ["node"]
    assert read.brief is not None
    assert read.brief.loads[0].driver == "ab"
    assert read.original is not None
    assert read.original.figures[0].value == 3.0
    assert (read.absent[0].name, read.absent[0].instead) == ("Perl", ["go"])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            ('"Go is ahead"', '"Go is ahead"\nquote = "I am sold"\nours = true'),
            r"quote: comes from the article, and ours = true",
        ),
        (
            ('"more than"', '"more than"\ntogether = true'),
            r'together: adds up .* measure = "errors" and',
        ),
        (('"go"]\nrel', '"nod"]\nrel'), r':12: claims\[0\]\.contenders\[0\]: .*study "nod"; did you mean "node"'),
        (('"go"]\nrel', '"py*"]\nrel'), r'"py\*" fits no contender of this study'),
        (('"more than"', '"more then"'), r'"more then" is not a choice; did you mean "more than"'),
        (('than = ["node"]', ""), r'than: "more than" needs whom or what it is compared with'),
        (('than = ["node"]', "value = 0"), r"value: must be more than 0, but is 0"),
        (('than = ["node"]', 'value = 5\nthan = ["node"]'), r"value: is compared with instead of another contender"),
        (('"more than"', '"highest"\ntimes = 2'), r'times: means nothing with "highest"'),
        (('"more than"\nthan = ["node"]', '"highest"\nvalue = 2'), r'relation: "highest" compares with other'),
        (('than = ["node"]', 'workload = "jso"\nvalue = 1'), r'no workload of this study "jso"; did you mean "json"'),
        (
            ('than = ["node"]', "connections = [9]\nvalue = 1"),
            r"no load of this study has 9 connections; they have 8, 64",
        ),
        (('than = ["node"]', "than_connections = 9"), r"than_connections: no load of this study has 9 connections"),
        (('than = ["node"]', 'driver = "ab"\nvalue = 1'), r'no driver of this study "ab"'),
        (('than = ["node"]', "share = 2\nvalue = 1"), r"share: must be a part of all comparisons, up to 1, but is 2"),
        (('than = ["node"]', "cores = 0\nvalue = 1"), r"cores: must be 1 or more, but is 0"),
        (('text = "Go is ahead"', 'text = " "'), r"text: must not be empty"),
    ],
)
def test_a_claim_that_means_nothing_is_refused(tmp_path: Path, change: tuple[str, str], says: str) -> None:
    path = study(tmp_path, CLAIM.replace(*change))
    with pytest.raises(CatalogueError, match=says):
        read_study(path, catalogue("go", "node"))


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("[brief]\n", r"brief: says nothing; give rounds"),
        ("[brief]\nrounds = 0\n", r"brief\.rounds: must be 1 or more, but is 0"),
        (
            "[brief]\nrounds = 3\n\n[brief.further]\nlooks = [3]\nbudget_s = 60\n",
            r"brief\.further\.looks: must be rising",
        ),
        ('[brief]\ncontenders = ["ruby"]\n', r'no contender of this study "ruby"'),
        ('[brief]\nworkloads = ["static"]\n', r'no workload of this study "static"'),
        ("[[brief.loads]]\nconnections = [8]\n", r"exactly one of duration_s and count must be given, and neither is"),
        ('[original]\nsource = ""\nyear = 1\nbaseline = "go"\n', r"original\.source: must not be empty"),
        ('[original]\nsource = "x"\nyear = 1\nbaseline = "god"\n', r'no contender of this study "god"'),
        ('[original]\nsource = "x"\nyear = 1\nbaseline = "go"\ndriver = "ap"\n', r'no driver of this study "ap"'),
        ('[original]\nsource = "x"\nyear = 1\nbaseline = "go"\ncores = 0\n', r"original\.cores: must be 1 or more"),
        (
            '[original]\nsource = "x"\nyear = 1\nbaseline = "go"\n'
            + '[[original.figures]]\ncontender = "go"\nworkload = "hello"\nconnections = 8\nvalue = 1\n' * 2,
            r"rate of go is given twice for this load",
        ),
        (
            '[original]\nsource = "x"\nyear = 1\nbaseline = "go"\n'
            '[[original.figures]]\ncontender = "go"\nworkload = "hello"\nconnections = 8\nvalue = -1\n',
            r"value: must be 0 or more, but is -1",
        ),
        ('[[absent]]\nname = ""\nreason = "x"\n', r"absent\[0\]\.name: must not be empty"),
        ('[[absent]]\nname = "x"\nreason = " "\n', r"absent\[0\]\.reason: must not be empty"),
        (
            '[[absent]]\nname = "x"\nreason = "y"\ninstead = ["god"]\n',
            r'absent\[0\]\.instead\[0\]: .*study "god"; did you mean "go"',
        ),
    ],
)
def test_a_brief_version_and_an_original_are_checked(tmp_path: Path, more: str, says: str) -> None:
    with pytest.raises(CatalogueError, match=says):
        read_study(study(tmp_path, more), catalogue("go", "node"))


def test_a_load_may_be_for_some_workloads_of_the_study_only(tmp_path: Path) -> None:
    some = HEAD.replace("duration_s = 2", 'duration_s = 2\nworkloads = ["jsn"]')
    path = tmp_path / "mine.toml"
    path.write_text(some, encoding="utf-8")
    with pytest.raises(CatalogueError, match=r'loads\[0\]\.workloads\[0\].*no workload of this study "jsn"'):
        read_study(path, catalogue("go", "node"))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("god", r'no contender of this study "god"; did you mean "go"'),
        ("r*", r'"r\*" fits no contender of this study'),
        ("best", r'no contender of this study "best"'),
    ],
)
def test_a_load_may_be_for_some_contenders_of_the_study_only(tmp_path: Path, name: str, says: str) -> None:
    path = tmp_path / "mine.toml"
    for wanted in ("go", "n*", name):
        path.write_text(HEAD.replace("duration_s = 2", f'duration_s = 2\ncontenders = ["{wanted}"]'), encoding="utf-8")
        if wanted != name:
            assert read_study(path, catalogue("go", "node")).loads[0].contenders == [wanted]
    with pytest.raises(CatalogueError, match=rf"loads\[0\]\.contenders\[0\].*{says}"):
        read_study(path, catalogue("go", "node"))
