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


def leading(analysis: Analysis) -> list[ClaimVerdict]:
    """The claims that answer the study's question."""
    return [claim for claim in analysis.claims if claim.headline and not claim.unmeasured]


def rest(analysis: Analysis) -> str:
    """The analysis' sentence without the claims that lead it, which it joins so; empty where it says no more."""
    return analysis.sentence[len("".join(f"{claim.headline}. " for claim in leading(analysis))) :]


def counted(claims: Sequence[ClaimVerdict]) -> str:
    """``26 of 34 claims hold, 4 do not, 4 are undecided.``"""
    by = Counter(claim.ruling for claim in claims)
    of = f"{by['holds']} of {words.count(len(claims), 'claim')} {'holds' if by['holds'] == 1 else 'hold'}"
    no, open_ = by["does not hold"], by["cannot tell"]
    against = f", {no} {'does' if no == 1 else 'do'} not" if no else ""
    undecided = f", {open_} {'is' if open_ == 1 else 'are'} undecided" if open_ else ""
    return f"{of}{against}{undecided}."


def found(claim: ClaimVerdict) -> str:
    """The claim, and the figure that decided."""
    figure = claim.headline.removeprefix(f"{claim.text}: ").partition(", ")[2]
    return f"{claim.text}{f': {figure}' if figure else ''}."


def headline(plan: Plan, analysis: Analysis) -> Markup:
    """What the first screen begins with."""
    asked = element("p", plan.question, class_="lead asked") if plan.question else None
    if not analysis.claims:
        head = element("h1", _emphasised(_sentence(plan, analysis.sentence), analysis.recommended))
        return join(asked, head, _alone(plan, analysis))
    answers = [
        element("li", element("b", claim.ruling, class_=f"ruling {RULED[claim.ruling]}"), f" {found(claim)}")
        for claim in leading(analysis)
    ]
    told = element("ul", *answers, class_="answers") if answers else None
    # of claims alone, that there is no contender to take says nothing
    take = _emphasised(_sentence(plan, rest(analysis)), analysis.recommended) if analysis.recommended else None
    return join(asked, element("h1", counted(analysis.claims)), told, element("p", take) if take else None)


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
