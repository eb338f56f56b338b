"""Burning: a service that came to need a few per cent more CPU for each answer. Does `webdyno compare` find it?

Three of the catalogue's apps (Go, Python, Node) get a loop that turns as often as a variable says; base turns it never,
head so often that it costs some 4 %. What it really cost is in what compare measured itself: CPU per request.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.table import table
from webdyno.read import default_folder

BUDGET_S = 120
FOUND, FALSE = 0.9, 0.05


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
    """Of the loop, that cost some 4 % of an answer."""


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


def run(folder: Path, repeats: int) -> list[str]:
    """The table, of so many comparisons of each app with its burning head, and as many of equals."""
    write_contenders(folder)
    rows = []
    for burner in BURNERS:
        for kind in ("more", "same"):
            answers = [
                _compared(folder, f"{burner.contender}-base", f"{burner.contender}-{kind}") for _ in range(repeats)
            ]
            rows.append(_row(burner.contender, kind, answers))
    return table(
        [
            "app",
            "head",
            "comparisons",
            "CPU per request",
            "slower",
            "same",
            "faster",
            "cannot tell",
            "seconds",
            "width",
        ],
        rows,
    )


def write_contenders(folder: Path) -> None:
    """Base, an equal one, and one that burns, for each app, in a catalogue folder of their own."""
    for burner in BURNERS:
        app = folder / "apps" / f"burning-{burner.contender}"
        shutil.copytree(default_folder() / "apps" / burner.app, app)
        source = app / burner.file
        place, head = _HEADS[burner.file]
        text = source.read_text().replace(burner.before, burner.loop + burner.before, 1).replace(place, head + place, 1)
        source.write_text(text)
        for name, turns in (("base", 0), ("same", 0), ("more", burner.turns)):
            _write_contender(folder, burner, name, turns)


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


def _compared(folder: Path, base: str, head: str) -> dict[str, Any]:
    begun = time.monotonic()
    argv = [sys.executable, "-m", "webdyno", "compare", base, head, "--catalogue", str(folder), "--json"]
    argv += ["--budget", f"{BUDGET_S}s", "--results", str(folder / "results")]
    ended = subprocess.run(argv, check=False, stdout=subprocess.PIPE)
    if ended.returncode not in (0, 1, 3):
        raise SystemExit(f"{' '.join(argv)} ended with status {ended.returncode}; what it said stands above")
    (answer,) = json.loads(ended.stdout)["tables"]
    return {**answer, "seconds": time.monotonic() - begun}


def _row(app: str, kind: str, answers: Sequence[dict[str, Any]]) -> list[str]:
    rates = [answer["changes"]["rate"] for answer in answers]
    verdicts = Counter(rate["verdict"] for rate in rates)
    ratios = [rate["ratio"] for rate in rates if rate["ratio"] and rate["ratio"]["low"]]
    costs = [cost["ratio"]["value"] for answer in answers if (cost := answer["changes"]["cpu_per_request"])["ratio"]]
    width = statistics.median((ratio["high"] / ratio["low"]) ** 0.5 - 1 for ratio in ratios) if ratios else None
    return [
        app,
        kind,
        str(len(answers)),
        f"{statistics.median(costs) - 1:+.1%}" if costs else "-",
        *(str(verdicts[verdict]) for verdict in ("slower", "same", "faster", "cannot tell")),
        f"{statistics.median(answer['seconds'] for answer in answers):.0f}",
        "-" if width is None else f"±{width:.1%}",
    ]
