"""Burning: a service that came to need a few per cent more CPU for each answer. Does `webdyno compare` find it?

Three of the catalogue's apps (Go, Python, Node) get a loop that turns as often as a variable says: in base and its
equal never, in head so often that an answer takes 4 % more CPU, by what five times as often costs. All three take turns
in blocks like those of ``compare``. From one long study, comparisons are drawn: rounds in a random order,
looked at as ``compare`` does until it decides or its two minutes are over. Drawn from the same rounds they are no
independent experiments, but each is one that ``compare`` could have had.
"""

from __future__ import annotations

import shutil
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from bench.table import table
from bench.trust import equal
from bench.trust.comparing import comparisons
from bench.trust.equal import figure_ratio
from bench.trust.studies import Recorded, of_contenders, read, write_study
from webdyno import api, plan
from webdyno.design.pairs import TURNS
from webdyno.read import default_folder

BUDGET_S = 120.0
MORE_CPU = 0.04
CALIBRATING_ROUNDS = 4
SECONDS, CONNECTIONS = 4.0, 64
"""As ``compare`` loads when nothing else is said."""
DRAWS, EQUAL_DRAWS = 40, 200
"""Comparisons of base with the burning one, and with its equal."""
ROUNDS_OF_AA, DRAWN_AA = 4, 200
_COLUMNS = [
    "head", "CPU per request", "comparisons", "slower", "same", "faster", "cannot tell", "by CPU", "pairs", "seconds",
    "+-",
]  # fmt: skip


@dataclass(frozen=True)
class Burner:
    """An app of the catalogue, and the loop that is put into it."""

    contender: str
    app: str
    file: str
    before: str
    """The line that the loop is put in front of."""
    loop: str
    turns: int
    """Of the loop: a guess, to begin with."""


BURNERS = (
    Burner(
        "go", "go-nethttp", "main.go", "\tw.Header().Set(\"Content-Type\", kind)\n",
        "\tfor i := 0; i < burning; i++ {\n\t\tburnt = burnt*6364136223846793005 + 1442695040888963407\n\t}\n", 1200,
    ),
    Burner(
        "uvicorn", "python-asgi", "app.py", "    path = scope[\"path\"]\n",
        "    for _ in range(BURNING):\n        pass\n", 250,
    ),
    Burner(
        "node", "node-http", "server.js", "  let status = 200;\n",
        "  for (let i = 0; i < burning; i++) burnt = (Math.imul(burnt, 1664525) + 1013904223) | 0;\n", 220,
    ),
)  # fmt: skip
_HEADS = {
    "main.go": ("type message struct", 'var burning, _ = strconv.Atoi(os.Getenv("BURNING"))\nvar burnt uint64\n\n'),
    "app.py": ("HELLO = b", 'import os\n\nBURNING = int(os.environ["BURNING"])\n'),
    "server.js": ("function answer(", "const burning = Number(process.env.BURNING);\nlet burnt = 1;\n\n"),
}
"""What the loop needs, and what it is put in front of."""


def run(folder: Path, rounds: int, draws: int, only: str = "") -> list[str]:
    """The tables, of ``rounds`` blocks of each app, or of ``only`` that one; Runs stay in ``folder``."""
    said: list[str] = []
    for burner in (each for each in BURNERS if only in each.contender):
        of_app = folder / burner.contender
        of_app.mkdir(parents=True)
        turns = _calibrated(of_app, burner)
        write_contenders(of_app, burner, {"base": 0, "same": 0, "more": turns})
        recorded = _recorded(of_app, burner, ("base", "same", "more"), rounds)
        said += [f"{burner.contender}: a loop of {turns}, {rounds} blocks", "", *report(recorded, draws), ""]
    return said


def read_report(folder: Path, draws: int) -> list[str]:
    """The tables of what ``run`` kept."""
    said: list[str] = []
    for burner in BURNERS:
        if found := sorted((folder / burner.contender / "results").glob("*more*/results.sqlite")):
            said += [burner.contender, "", *report(read(found[-1].parent), draws), ""]
    return said


def report(recorded: Recorded, draws: int) -> list[str]:
    """Of one app: what it really cost, what comparisons say of it and of equals, and the A/A of these."""
    base, more, same = sorted(recorded.plan.contenders)
    rows = [_row(recorded, (base, head), draws) for head in (more, same)]
    equals = of_contenders(recorded, (base, same))
    return [*table(_COLUMNS, rows), "", *equal.report(equals, (base, same), ROUNDS_OF_AA, DRAWN_AA)]


def _row(recorded: Recorded, pair: tuple[str, str], draws: int) -> list[str]:
    equals = pair[1].endswith("-same")
    two = of_contenders(recorded, pair)
    answers = list(comparisons(two, pair, EQUAL_DRAWS if equals else draws, BUDGET_S, equals=equals))
    verdicts = Counter(answer.verdict for answer in answers)
    cost = figure_ratio(recorded, pair[::-1], lambda window: window.cpu_per_request_ns)
    return [
        pair[1],
        "-" if cost is None else f"{cost.value - 1:+.1%} ({(cost.low or 0) - 1:+.1%} to {(cost.high or 0) - 1:+.1%})",
        str(len(answers)),
        *(f"{verdicts[verdict] / len(answers):.0%}" for verdict in ("slower", "same", "faster", "cannot tell")),
        f"{sum(answer.by == 'cpu_per_request' for answer in answers) / len(answers):.0%}",
        f"{statistics.median(answer.pairs for answer in answers):.0f}",
        f"{statistics.median(answer.seconds for answer in answers):.0f}",
        f"{statistics.median(answer.half_width for answer in answers):.1%}",
    ]


def _calibrated(folder: Path, burner: Burner) -> int:
    """Turns of the loop that cost an answer MORE_CPU, by what five times as many cost; a guess leads to these."""
    turns = burner.turns
    for kind in ("guessed", "much"):
        turns = _by_five_times(folder, burner, turns, kind)
    return turns


def _by_five_times(folder: Path, burner: Burner, turns: int, kind: str) -> int:
    write_contenders(folder, burner, {"none": 0, kind: 5 * turns})
    recorded = _recorded(folder, burner, ("none", kind), CALIBRATING_ROUNDS)
    names = f"{burner.contender}-{kind}", f"{burner.contender}-none"
    cost = figure_ratio(recorded, names, lambda window: window.cpu_per_request_ns)
    if cost is None or cost.value <= 1:
        raise SystemExit(f"{burner.contender}: a loop of {5 * turns} costs nothing that could be measured")
    return round(5 * turns * MORE_CPU / (cost.value - 1))


def _recorded(folder: Path, burner: Burner, kinds: Sequence[str], rounds: int) -> Recorded:
    names = [f"{burner.contender}-{kind}" for kind in kinds]
    study = write_study(folder, names, rounds, SECONDS, connections=CONNECTIONS, name=f"burning-{kinds[-1]}")
    with patch.object(plan, "Turns", lambda: TURNS):  # as ``compare`` gives them
        made = api.measure(
            str(study), exhaustive=True, results=folder / "results", catalogue=[folder], wait=True, trust=True
        )
    return read(made.folder)


def write_contenders(folder: Path, burner: Burner, turns: Mapping[str, int]) -> None:
    """A contender for each number of turns, in a catalogue folder of their own."""
    app = folder / "apps" / f"burning-{burner.contender}"
    if not app.exists():
        shutil.copytree(default_folder() / "apps" / burner.app, app)
        source = app / burner.file
        place, head = _HEADS[burner.file]
        text = source.read_text().replace(burner.before, burner.loop + burner.before, 1).replace(place, head + place, 1)
        source.write_text(text)
    for name, number in turns.items():
        _write_contender(folder, burner, name, number)


def _write_contender(folder: Path, burner: Burner, name: str, turns: int) -> None:
    (folder / "contenders").mkdir(exist_ok=True)
    text = (default_folder() / "contenders" / f"{burner.contender}.toml").read_text()
    text = text.replace(f'"{burner.app}"', f'"burning-{burner.contender}"', 1)
    setting = f'BURNING = "{turns}"\n'
    if "[environment]\n" in text:
        text = text.replace("[environment]\n", f"[environment]\n{setting}", 1)
    else:
        text = text.replace("[sweep]\n", f"[environment]\n{setting}\n[sweep]\n", 1)
    (folder / "contenders" / f"{burner.contender}-{name}.toml").write_text(text)
    lock = default_folder() / "locks" / f"{burner.contender}.txt"
    if lock.exists():
        (folder / "locks").mkdir(exist_ok=True)
        shutil.copy(lock, folder / "locks" / f"{burner.contender}-{name}.txt")
