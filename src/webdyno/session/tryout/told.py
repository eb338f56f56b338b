"""Everything there is to say of a tryout, as it is reported by ``--json``; on a terminal, the command words it."""

from __future__ import annotations

import msgspec

from webdyno.model.doubt import Doubt
from webdyno.model.trial import Skipped
from webdyno.model.verdict import Standing
from webdyno.session.tryout.answer import Answer
from webdyno.session.tryout.copying import Copied
from webdyno.session.tryout.limit import Limit
from webdyno.session.tryout.profile import Profile


class Dropped(msgspec.Struct, frozen=True):
    """A setting that did not come into the last comparison."""

    setting: str
    rate_per_s: float
    runs: int


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """Everything there is to say; ``--json`` prints it as it is."""

    answer: str
    take: str | None
    interface: str | None
    python: str
    asked: list[str]
    load: str
    copy: Copied | None
    copy_of: str | None
    """Whose that is: who came first, taken or not."""
    limit: Limit | None
    profile: Profile
    names: dict[str, str]
    """Every setting's name, and what it is called."""
    standings: list[Standing]
    dropped: list[Dropped]
    failed: dict[str, str]
    skipped: list[Skipped]
    untried: int
    doubts: list[Doubt]
    notes: list[str]
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    against: str | None = None
    saved: str | None = None
    complete: bool = False
    """It was not stopped before its end."""


def told_ratio(answer: Answer) -> dict[str, float | str | None]:
    """The fields of ``Told`` about the ratio."""
    ratio = answer.ratio
    if ratio is None:
        return {}
    return {"ratio": ratio.value, "ratio_low": ratio.low, "ratio_high": ratio.high, "against": answer.against}
