"""What each figure of a ranking says of itself: what it is, its unit, its interval, its rounds, how it was worked out.

The head of a column says once what all its figures are (``of_column``); a cell says only what is its own
(``of_cell``), so that a page with thousands of figures stays small. The page's script puts both into one
explanation; without it, a browser shows each where the pointer rests.
"""

from __future__ import annotations

from webdyno.model.estimate import Estimate
from webdyno.model.trial import Plan
from webdyno.model.verdict import Standing, Verdict
from webdyno.report import words

_MEAN = (
    "Each round gives one figure. Shown is their mean (of logarithms), without the effects that a round had "
    "on all contenders"
)
_TRIMMED = f"{_MEAN}, and without the highest and the lowest round of each"
_T = ". The interval is Student's t over rounds"
_WINDOW = "Read from all correct answers of a round's steady phase; in a block that is a window after the turns"
_HOW: dict[str, str] = {
    "place": "A dash: not ranked, because a doubt voids its figures",
    "rate": "Counted by the load tool: only answers that were checked and found correct",
    "interval": "95 of 100 such intervals contain the true rate",
    "ratio": "Compared within rounds, so effects of a round on both cancel out",
    "p50": _WINDOW,
    "p99": _WINDOW,
    "cpu": "User and system time of its turns, or of the steady phase, divided by the correct answers of these",
    "memory": "From its start to its end; 1 MiB is 1,048,576 bytes",
    "errors": "Over the turns and the steady phases of all rounds; requests in flight when the load ended are "
    "not counted",
}
_LOOKS = "In a race its interval is wider than one of 95 %, because it accounts for every look"
FACTS: dict[str, str] = {
    "Load": "Closed loop: each connection sends its next request when it has its answer, so a slow server gets "
    "fewer requests. "
    "Open loop: requests are due at set times, however long the answers take.",
    "Rounds": "In a round, each contender is started again and measured once, in a random order. Intervals come "
    "from the variation between rounds.",
    "Measured": "Side by side: contenders of a block are alive at once and take turns under load, pass after pass in "
    "random order, so that changes of the machine affect all of them alike. Alone: a contender has the machine "
    "to itself.",
    "Typical interval": "The median half-width of all 95 % intervals of requests/s in this report.",
}
"""What the figures at the top of the page mean, by their labels."""
_UNITS: dict[str, tuple[float, str]] = {
    "per_s": (1.0, "requests/s"),
    "share": (0.01, "%"),
    "ratio": (1.0, "times"),
    "cores": (1.0, "cores"),
    "bytes_per_answer": (1.0, "bytes"),
    "per_connection": (1.0, "requests per connection"),
}
"""Of figures that are neither times nor sizes, which find their own."""
_FITTED = ("rate", "p50", "p99", "cpu", "memory")
UNKNOWN = "Not measured; unknown is not zero."


def of_column(key: str, plan: Plan) -> str:
    """What the figures of a column are, and how they come about."""
    parts = [words.COLUMNS[key].meaning]
    if key in _HOW:
        parts.append(_HOW[key])
    if key == "ratio" and plan.race is not None:
        parts.append(_LOOKS)
    if key in _FITTED:
        parts.append((_TRIMMED if plan.estimate == "trimmed" else _MEAN) + _T)
    return ". ".join(parts) + "."


def of_cell(key: str, standing: Standing, verdict: Verdict) -> str | None:
    """What one cell says that its column does not; None where that is nothing."""
    if key == "tie":
        return _shared(standing, verdict)
    if key == "errors":
        return _kinds(standing)
    if key == "served":
        return UNKNOWN if standing.connections_served is None else None
    if key == "place":
        return _outcomes(standing)
    found = figure(key, standing)
    if found is None:
        return UNKNOWN
    if key == "ratio" and found.low == found.high == 1:
        return "It is the best."
    return _wide(found) if key == "interval" else sure(found)


def of_contender(plan: Plan, standing: Standing) -> str:
    """What the contender is made of, and how its rounds ended."""
    contender = plan.contenders.get(standing.contender)
    if contender is None:
        return _outcomes(standing)
    app = plan.apps[contender.app]
    framework = "no framework" if app.framework == "none" else app.framework
    made = f"Server {contender.server}; {app.language}, {framework} (app {app.name}); model: {contender.model}."
    return f"{made} {_outcomes(standing)}"


def figure(key: str, standing: Standing) -> Estimate | None:
    """The estimate that stands behind a cell; None for cells that have none, and for what was not measured."""
    return {
        "rate": standing.rate,
        "interval": standing.rate,
        "ratio": standing.ratio_to_best,
        "p50": standing.p50,
        "p99": standing.p99,
        "cpu": standing.cpu_per_request,
        "memory": standing.memory_peak,
    }.get(key)


def order(key: str, standing: Standing) -> str | None:
    """The number a column is sorted by; None where there is none, and for columns sorted by their text.

    Intervals are sorted by their lower end.
    """
    found = figure(key, standing)
    value: float | None
    if key == "place":
        value = standing.place
    elif key == "errors":
        value = standing.error_ratio if standing.rate else None
    elif key == "served":
        value = standing.connections_served
    elif key == "interval":
        value = found.low if found else None
    else:
        value = found.value if found else None
    return None if value is None else f"{value:.6g}"


def sure(found: Estimate) -> str:
    """``95 % interval 2.6 to 3.1 ms, over 8 rounds.``"""
    over = f"over {words.count(found.rounds, 'round')}"
    if found.low is None or found.high is None:
        return f"Without an interval, {over}."
    if words.is_unknown(found):
        return f"Its 95 % interval is unknown: {words.count(found.rounds, 'round')} differ too much."
    return f"95 % interval {_bounds(found, found.low, found.high)}, {over}."


def _bounds(found: Estimate, low: float, high: float) -> str:
    if found.unit == "bytes":
        return f"{words.size(low)} to {words.size(high)}"
    if found.unit == "bytes_per_s":
        return f"{words.size(low)}/s to {words.size(high)}/s"
    scale, unit = _UNITS.get(found.unit) or words.time_unit(found.value)
    return f"{words.interval(found, scale, ' to ')} {unit}"


def _wide(found: Estimate) -> str:
    if found.low is None or found.high is None or not found.value:
        return sure(found)
    return f"± {words.per_cent((found.high - found.low) / 2 / found.value)}, over {words.count(found.rounds, 'round')}."


def _shared(standing: Standing, verdict: Verdict) -> str | None:
    if not standing.letters:
        return None
    mine = set(standing.letters)
    others = [other.contender for other in verdict.standings if other is not standing and mine & set(other.letters)]
    return f"Tied with {words.listing(others)}." if others else "Not tied with any other."


def _kinds(standing: Standing) -> str | None:
    if not standing.errors:
        return None
    kinds = [f"{kind} {words.count(number)}" for kind, number in standing.errors.items()]
    return f"By kind, over all rounds: {words.listing(kinds)}."


def _outcomes(standing: Standing) -> str:
    done = f"Measured in {words.count(standing.rounds_ok, 'round')}"
    return f"{done}, failed in {standing.rounds_failed}." if standing.rounds_failed else f"{done}."
