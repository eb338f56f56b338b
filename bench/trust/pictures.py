"""Two pictures for docs/honest-numbers.md, as SVG files: what an interval is worth, and what a race leaves out.

Both are simulated, so that the truth is known, and always the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np
from scipy.special import stdtrit

from bench.trust.worlds import World, race
from webdyno.analyse.estimate import fit
from webdyno.model.estimate import Estimate
from webdyno.model.race import Race

EXPERIMENTS, STARTS, SECONDS = 60, 4, 10
LUCK, NOISE, TOGETHER = 0.03, 0.03, 0.6
"""Of starts and of seconds, as standard deviations of logarithms; and how much neighbouring seconds hang together."""
INK, PALE, RIGHT, WRONG = "#1b1f24", "#8b949e", "#1f6feb", "#d1242f"
WIDTH = 760
FIELD = 14
Interval = tuple[float, float]


def run(into: Path) -> list[str]:
    """Write both; what was written, a line each."""
    into.mkdir(parents=True, exist_ok=True)
    made = {"intervals.svg": intervals(), "race.svg": raced()}
    for name, text in made.items():
        (into / name).write_text(text, encoding="utf-8")
    return [f"written: {into / name}" for name in made]


def intervals(seed: int = 11) -> str:
    """Experiments with two equal servers: the interval that counts seconds, and the one that counts starts."""
    rng = np.random.default_rng(seed)
    each = [_experiment(rng) for _ in range(EXPERIMENTS)]
    panels = [
        ("as if every second counted", [seconds for seconds, _ in each]),
        (f"over {STARTS} starts of each, as webdyno does", [starts for _, starts in each]),
    ]
    parts = [_text(0, 18, "Two equal servers, compared 60 times: 95 % intervals of their ratio", size=15, bold=True)]
    for at, (title, found) in enumerate(panels):
        parts.append(_panel(14 + at * 376, title, found))
    return _svg(330, parts, "Intervals of the ratio of two equal servers in 60 simulated experiments")


def _experiment(rng: np.random.Generator) -> tuple[Interval, Interval]:
    """Of the log ratio: from all seconds as if independent, and from starts."""
    sides = [[_seconds(rng) for _ in range(STARTS)] for _ in range(2)]
    flat = [np.concatenate(side) for side in sides]
    apart = float(flat[0].mean() - flat[1].mean())
    error = math.sqrt(sum(float(one.var(ddof=1)) / len(one) for one in flat))
    reach = error * float(stdtrit(2 * STARTS * SECONDS - 2, 0.975))
    cells = {("ab"[at], r): math.exp(one.mean()) for at, side in enumerate(sides) for r, one in enumerate(side)}
    fitted = fit(cells)
    ratio = fitted.ratio("a", "b") if fitted else None
    if ratio is None or ratio.low is None or ratio.high is None:
        raise ValueError("four starts of two servers always have an interval")
    return (apart - reach, apart + reach), (math.log(ratio.low), math.log(ratio.high))


def _seconds(rng: np.random.Generator) -> np.ndarray:
    """Log rates of the seconds of one start."""
    made = np.zeros(SECONDS)
    push = NOISE * math.sqrt(1 - TOGETHER**2)
    made[0] = rng.normal(0, NOISE)
    for at in range(1, SECONDS):
        made[at] = TOGETHER * made[at - 1] + rng.normal(0, push)
    return np.asarray(made + rng.normal(0, LUCK))


def _panel(left: float, title: str, found: Sequence[Interval]) -> str:
    wide, top, low, high = 340.0, 66.0, -0.16, 0.16

    def x(log: float) -> float:
        return left + (min(max(log, low), high) - low) / (high - low) * wide

    missed = sum(not lo <= 0 <= hi for lo, hi in found)
    parts = [
        _text(left, 42, title, bold=True),
        _text(left, 58, f"{missed} of {len(found)} call the equal servers different", fill=WRONG if missed else PALE),
    ]
    for at, (lo, hi) in enumerate(found):
        y, colour = top + 3.6 * at + 6, RIGHT if lo <= 0 <= hi else WRONG
        parts.append(f'<path d="M{x(lo):.1f} {y:.1f}H{x(hi):.1f}" stroke="{colour}" stroke-width="2"/>')
    bottom = top + 3.6 * len(found) + 10
    parts.append(f'<path d="M{x(0):.1f} {top}V{bottom}" stroke="{INK}" stroke-dasharray="2 3"/>')
    for share in (-0.1, 0.0, 0.1):
        label = f"{share:+.0%}" if share else "equal"
        parts.append(_text(x(math.log1p(share)), bottom + 16, label, anchor="middle", fill=PALE))
    return "".join(parts)


def raced(seed: int = 1) -> str:
    """A race in a made-up world: who ran in which round of one table, and where the truth lies."""
    world = World(seed, contenders=FIELD)
    race(world, Race(), window_s=1.5)
    cells = world.tables[0]
    fitted = fit(cells)
    if fitted is None:
        raise ValueError("a race measures something")
    rounds = Race().most_rounds
    names = [fitted.names[at] for at in np.argsort(-fitted.logs)]
    parts = [
        _text(0, 18, f"A race for the first three of {FIELD} servers, simulated", size=15, bold=True),
        _text(0, 38, f"filled: the {len(cells)} runs it did; hollow: what {rounds} rounds of everything would add"),
    ]
    for row, name in enumerate(names):
        y, begin = 70 + 20 * row, 80 + 26 * rounds
        parts.append(_text(0, y, f"server {row + 1}"))
        for round_ in range(1, rounds + 1):
            fill, line = (RIGHT, RIGHT) if (name, round_) in cells else ("#ffffff", "#c9d1d9")
            parts.append(
                f'<rect x="{70 + 26 * (round_ - 1)}" y="{y - 11}" width="20" height="13" rx="2" '
                f'fill="{fill}" stroke="{line}"/>'
            )
        found = fitted.ratio(name, names[0]) if row else fitted.ratio(name, name)
        truth = math.exp(float(world.truth[world.names.index(name), 0] - world.truth[world.names.index(names[0]), 0]))
        parts.append(_interval(begin, y, found, truth))
    bottom = 70 + 20 * len(names) + 4
    parts.append(_text(70, bottom, "round 1, 2, 3 ...", fill=PALE))
    parts.append(_text(80 + 26 * rounds, bottom, "rate by that of server 1: 95 % interval; dot: truth", fill=PALE))
    return _svg(bottom + 12, parts, "Who runs in which round of a race, and who is left out")


def _interval(begin: float, y: float, found: Estimate, truth: float) -> str:
    """From 0 to 1.15 of the first."""
    wide = (WIDTH - begin - 10) / 1.15
    line = ""
    if found.low is not None and found.high is not None and found.low < found.high:
        held = found.low <= truth <= found.high
        line = (
            f'<path d="M{begin + found.low * wide:.1f} {y - 4}H{begin + min(found.high, 1.15) * wide:.1f}" '
            f'stroke="{RIGHT if held else WRONG}" stroke-width="2"/>'
        )
    return line + f'<circle cx="{begin + truth * wide:.1f}" cy="{y - 4}" r="2.5" fill="{INK}"/>'


def _text(
    x: float, y: float, text: str, *, size: int = 12, bold: bool = False, fill: str = INK, anchor: str = "start"
) -> str:
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}"{weight} fill="{fill}" text-anchor="{anchor}">'
        f"{escape(text)}</text>"
    )


def _svg(height: float, parts: Sequence[str], title: str) -> str:
    """On white, whatever the page is like, with a margin of 16."""
    high = height + 32
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-16 -16 {WIDTH + 32} {high:.0f}" width="{WIDTH + 32}" '
        f'height="{high:.0f}" role="img" font-family="system-ui, sans-serif"><title>{escape(title)}</title>'
        f'<rect x="-16" y="-16" width="100%" height="100%" fill="#ffffff"/>{"".join(parts)}</svg>\n'
    )
