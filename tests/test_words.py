"""Words: the idioms that docs/contributing/words.md bans are neither in what the program says nor in its documents."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src" / "webdyno").rglob("*.py"))
GUIDE = ROOT / "docs" / "contributing" / "words.md"
MADE_BY_RUNS = ROOT / "docs" / "studies"
"""Printed by the program when a study was measured, all but coverage.md; its sentences are held where they stand."""
DOCUMENTS = sorted(
    path
    for path in [*ROOT.glob("*.md"), ROOT / "action.yml", *(ROOT / "docs").rglob("*.md")]
    if path != GUIDE and (path.name == "coverage.md" or not path.is_relative_to(MADE_BY_RUNS))
)
BANNED = {
    r"\brightly\b": "correctly",
    r"\bright answers?\b": "correct answer",
    r"\btold apart\b": "tied, or distinguished",
    r"\btells? (it|them|the two) apart\b": "distinguish",
    r"\b(?:cannot|can't) be told\b": "is undecided, or is tied with",
    r"\bnot to be told\b": "undecided",
    r"\bis told (?:beside|with|by|as)\b": "is reported",
    r"\bwhoever\b": "any server that, or those who",
    r"\bheld against\b": "compared with, or checked against",
    r"\b(?:the|its) begin\b": "the start",
    r"\bthe first so many\b": "the number, or the flag that gives it",
    r"\bstudy S[0-4]\b|\bS[0-4](?:'s)? (?:had|did|as published)\b": "the study by its name",
    r"(?<!the first )\bso many\b": "this many, or the number",
    r"\bin (?:the )?place of\b": "instead of",
    r"\b(?:begin|begins|began|begun) anew\b": "start over",
    r"\bnot one (?:request|answer)\b": "no request, or no answer",
    r"\bto be had\b": "available",
    r"\bmiddle one of\b": "the median of",
    r"\bbuilds? apart\b": "without builds",
    r"\bgo(?:es)? with (?:none|neither)\b": "excludes, or cannot be combined with",
    r"\bwhat becomes? of\b": "the result of",
    r"\blay \w+ over\b": "compare with",
    r"\bnobody is who\b": "no contender that",
    r"\b(?:start|fill|writ|mak|resolv|fetch)(?:s|es|ed|e)?\b[^.]{0,30}\banew\b": "again, or restart",
    r"\bby (?:its|their) nature\b": "by design",
    r"\bas (?:much|far) as it looks\b": "if the difference is real",
    r"\basks?(?: \S+){0,3} at once\b": "sends this many at a time",
    r"\btold to (?:answer|wait)\b": "delayed by",
    r"\brace is not over\b": "has not ended",
    r"\bcontenders? of today\b": "present-day contender",
    r"\bin vain\b": "without an answer",
    r"\bwhen (?:not given|nothing is said)\b": "the default, in brackets",
    r"\bare of two kinds\b": "fall into two groups",
    r"\bfor want of\b": "for lack of",
    r"\bshares? of errors\b": "error rate",
    r"\bsure by itself\b": "decided on its own",
    r"\bon both sides of\b": "includes",
    r"\bas good as equal\b": "practically equal",
    r"\bhas \S+x (?:\(\S+\) )?the requests/s of\b": "serves 1.2x as many requests per second as",
}
OLD = ROOT / "CHANGELOG.md"
"""Its entries stay as they were written; only the first rules are older than they are."""
FIRST_RULES = 12
QUOTED = 'Reports say "tied" where they said "cannot be told apart".'
"""What the change log says of the change itself."""


def said(path: Path) -> Iterator[tuple[int, str]]:
    """Every text of a module with its line: what it may print, its docstrings among them, for help is made of those."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def banned(text: str, rules: int | None = None) -> list[str]:
    """What ``text`` has of the first ``rules``, outputs apart: those are as a program printed them."""
    flat = " ".join(re.sub(r"```text\n.*?```", "", text, flags=re.S).split()).replace(QUOTED, "")
    return [
        f"{match[0]!r}: write {better}"
        for rule, better in list(BANNED.items())[:rules]
        for match in re.finditer(rule, flat, re.I)
    ]


def test_what_the_program_says_has_no_banned_idiom() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line} {fault}"
        for path in SOURCES
        if "catalogue" not in path.parts[len(ROOT.parts) :]
        for line, text in said(path)
        for fault in banned(text)
    ]
    assert found == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_document_has_no_banned_idiom(path: Path) -> None:
    assert banned(path.read_text("utf-8"), FIRST_RULES if path == OLD else None) == []


def test_every_rule_finds_what_it_bans() -> None:
    """On sentences that were once ours; each breaks one rule, and each rule is broken."""
    once = [
        "each request was answered rightly",
        "CPU time for one right answer",
        "is not told apart from the change",
        "so this load cannot tell them apart",
        "so the contender cannot be told where to listen",
        "faster, slower, the same, or not to be told",
        "one that shades is told beside the figure",
        "for whoever watches",
        "each held against the others of its blocks",
        "at the end of its window as at the begin",
        "settle who the first so many are",
        "as study S1 did it",
        "more than so many connections allow",
        "what --brief puts in place of the study's own",
        "put it back, or begin anew without --resume",
        "not one request was served",
        "the clock is not to be had here",
        "the middle one of its rounds",
        "how long the search may take, builds apart",
        "it goes with none of --budget and --top",
        "and what becomes of a claim here",
        "lay head over base",
        "nobody is who was faster by less than that can have cost",
        "every round then starts every server anew",
        "each answer takes 10 ms by its nature",
        "would separate the first two, if they differ as much as it looks",
        "it may ask redis 8 questions at once",
        "it was told to answer 10 ms later",
        "the race is not over: 3 runs are missing",
        "no contender of today is ranked on every workload",
        "clients who waited in vain waited longer",
        "standard output when not given",
        "its starts are of two kinds",
        "3 undecided for want of precision",
        "the share of errors of go is 0 %",
        "sure by itself, and not as one of 40 comparisons",
        "the interval lies on both sides of 1x",
        "they are as good as equal (within 3 %)",
        "go has 1.15x (1.01-1.32) the requests/s of node",
    ]
    assert [len(banned(sentence)) for sentence in once] == [1] * len(BANNED)
    assert banned("the server is told its port, and the cookie is set on the right answering host") == []
