"""Headline: the question, and the answer in one sentence.

A study that tests claims is answered by how many of them hold. The claims that answer its question follow, a line each,
with what was found here: four sentences in large type are not a headline.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from webdyno.model.claim import ClaimVerdict
from webdyno.model.trial import Plan
from webdyno.model.verdict import Analysis
from webdyno.report import words
from webdyno.report.answer import capital
from webdyno.report.markup import Markup, element, join

RULED = {"holds": "good", "does not hold": "bad", "cannot tell": "open"}
"""The class of each ruling."""


def headline(plan: Plan, analysis: Analysis) -> Markup:
    """What the first screen begins with."""
    asked = element("p", plan.question, class_="lead asked") if plan.question else None
    if analysis.claims:
        head = element("h1", _tally(analysis.claims))
        answers = [_claim(claim) for claim in _leading(analysis)]
        told = element("ul", *answers, class_="answers") if answers else None
        return join(asked, head, told, _recommended(plan, analysis))
    head = element("h1", _emphasised(_sentence(plan, analysis.sentence), analysis.recommended))
    return join(asked, head, _alone(plan, analysis))


def _tally(claims: Sequence[ClaimVerdict]) -> str:
    """``26 of 34 claims hold, 4 do not, 4 are undecided.``"""
    by = Counter(claim.ruling for claim in claims)
    of = f"{by['holds']} of {words.count(len(claims), 'claim')} {'holds' if by['holds'] == 1 else 'hold'}"
    no, open_ = by["does not hold"], by["cannot tell"]
    against = f", {no} {'does' if no == 1 else 'do'} not" if no else ""
    undecided = f", {open_} {'is' if open_ == 1 else 'are'} undecided" if open_ else ""
    return f"{of}{against}{undecided}."


def _leading(analysis: Analysis) -> list[ClaimVerdict]:
    """The claims that answer the study's question."""
    return [claim for claim in analysis.claims if claim.headline and not claim.unmeasured]


def _claim(claim: ClaimVerdict) -> Markup:
    """Its ruling, the claim, and the figure that decided."""
    found = claim.headline.removeprefix(f"{claim.text}: ").partition(", ")[2]
    ruling = element("b", claim.ruling, class_=f"ruling {RULED[claim.ruling]}")
    return element("li", ruling, f" {claim.text}{f': {found}' if found else ''}.")


def _recommended(plan: Plan, analysis: Analysis) -> Markup | None:
    """The contender to take, where there is one; of claims alone, that there is none says nothing."""
    if analysis.recommended is None:
        return None
    # the sentence begins with these, as the analysis joins them, and ends with the recommendation
    before = "".join(f"{claim.headline}. " for claim in _leading(analysis))
    return element("p", _emphasised(_sentence(plan, analysis.sentence[len(before) :]), analysis.recommended))


def _alone(plan: Plan, analysis: Analysis) -> Markup | None:
    """Of a single table its own sentence too."""
    if len(analysis.verdicts) != 1:
        return None
    return element("p", _sentence(plan, analysis.verdicts[0].sentence), class_="lead")


def _sentence(plan: Plan, text: str) -> str:
    return f"{capital(plan, text)}."


def _emphasised(sentence: str, name: str | None) -> Markup:
    """The sentence with the contender's name marked."""
    if not name or name not in sentence:
        return join(sentence)
    before, _, after = sentence.partition(name)
    return join(before, element("b", name), after)
