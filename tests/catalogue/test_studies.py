"""The studies that are modelled on articles: each has claims and a source, and ends in brief within its time."""

from __future__ import annotations

import pytest

from tests import shipped
from webdyno.model.study import Study
from webdyno.plan import brief_of, make_plan

CATALOGUE = shipped.catalogue()
MINUTES = {"pypy": 30, "battle": 25}
"""Where not 15: half of the contenders run on PyPy, whose compiler asks for 30 s each time; Play's asks for 45."""
OF_ARTICLES = [study for study in CATALOGUE.studies.values() if study.original is not None]


@pytest.mark.parametrize("study", OF_ARTICLES, ids=lambda study: study.name)
def test_in_brief_it_ends_in_time_with_all_contenders_of_its_article(study: Study) -> None:
    short = brief_of(study)
    plan = make_plan(short, CATALOGUE, {}, brief=True)
    assert plan.seconds < 60 * MINUTES.get(study.name, 15)
    assert set(short.contenders) <= set(study.contenders)
    assert {it.contender for it in study.systems} <= set(short.contenders) or short.contenders == study.contenders
    assert plan.rounds >= 3


@pytest.mark.parametrize("study", OF_ARTICLES, ids=lambda study: study.name)
def test_most_of_its_claims_can_be_told_in_brief_too(study: Study) -> None:
    asked = {number for load in brief_of(study).loads for number in load.connections}
    told = [claim for claim in study.claims if not claim.connections or asked & set(claim.connections)]
    assert len(study.claims) >= 9
    assert len(told) >= 0.8 * len(study.claims)


@pytest.mark.parametrize("study", OF_ARTICLES, ids=lambda study: study.name)
def test_each_claim_quotes_its_article_shortly_or_is_said_to_be_ours(study: Study) -> None:
    assert [claim.text for claim in study.claims if claim.ours == bool(claim.quote.strip())] == []
    assert [claim.quote for claim in study.claims if len(claim.quote) > 110] == []
    assert sum(claim.ours for claim in study.claims) <= 0.25 * len(study.claims)


def test_the_articles_are_there() -> None:
    assert {"battle", "blocking", "hello", "pypy", "wsgi"} <= {study.name for study in OF_ARTICLES}
