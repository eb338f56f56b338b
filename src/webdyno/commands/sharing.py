"""What is said of blocks before they are measured: who takes turns side by side, and who is measured alone, and why."""

from __future__ import annotations

from collections.abc import Sequence

from webdyno.analyse.words import count, listing
from webdyno.design.blocks import Sharing
from webdyno.model.trial import Plan


def clause(found: Sharing, plan: Plan) -> str:
    """``all 5 contenders take turns side by side``, without reasons."""
    every = len(plan.contenders)
    if not found.beside:
        return "each contender is measured alone" if every > 1 else "it is measured alone"
    whole = len(found.beside) == every
    who = f"all {every} contenders" if whole else f"{len(found.beside)} of {count(every, 'contender')}"
    at_a_time = "" if found.most == len(found.beside) else f", up to {found.most} at a time"
    return f"{who} take turns side by side{at_a_time}"


def sentence(found: Sharing, plan: Plan) -> str:
    """The same with everybody who is measured alone, and why."""
    said = clause(found, plan)
    if not found.beside and len(found.alone) == 1:
        return f"{said}: {next(iter(found.alone))}"
    told = [f"{_who(names, found, plan)} ({why})" for why, names in found.alone.items()]
    return f"{said}; alone: {'; '.join(told)}" if told else said


def _who(names: Sequence[str], found: Sharing, plan: Plan) -> str:
    some = " in some tables" if set(names) & set(found.beside) else ""
    return f"{'all' if len(names) == len(plan.contenders) else listing(names)}{some}"
