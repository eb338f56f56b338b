"""Known ratio: servers of ours whose service times differ by a set share. Are the differences found, and held?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench.table import table
from bench.trust.equal import ratio
from bench.trust.studies import Recorded, experiments, record, write_study
from webdyno.analyse import analyse

SLOWER = (0.02, 0.05, 0.10, 0.30)
SERVICE_US = 500.0
GOAL = 0.93
_BASE = "paced-00"


def run(folder: Path, repeats: int, rounds: int, seconds: float, luck: float, *, alone: bool = False) -> list[str]:
    """The table. Takes ``repeats * rounds * 5`` Runs, which stay in ``folder``."""
    study = write_study(folder, write_contenders(folder, luck), repeats * rounds, seconds)
    flags = ["--exhaustive", "--catalogue", str(folder), *["--alone"] * alone]
    return report(record(str(study), folder / "results", *flags), rounds)


def write_contenders(folder: Path, luck: float) -> list[str]:
    """The paced server as an app, and a contender for each service time; their names."""
    app = folder / "apps" / "paced"
    app.mkdir(parents=True)
    (app / "app.toml").write_text(
        'language = "Python"\ninterface = "native"\nframework = "none"\nanswers = ["hello"]\n'
    )
    (app / "paced.py").write_text(Path(__file__).with_name("paced.py").read_text())
    (folder / "contenders").mkdir()
    names = []
    for slower in (0.0, *SLOWER):
        names.append(f"paced-{slower * 100:02.0f}")
        serve = ["python", "paced.py", "{host}", "{port}", f"{SERVICE_US * (1 + slower):g}", f"{luck:g}"]
        (folder / "contenders" / f"{names[-1]}.toml").write_text(
            'app = "paced"\nruntime = "cpython-3.11"\nserver = "paced"\nmodel = "one at a time, by the clock"\n'
            f'serve = {serve!r}\nbecause = "a known ratio"\nauthor = "webdyno"\n'.replace("'", '"')
        )
    return names


def report(recorded: Recorded, rounds: int) -> list[str]:
    """For each ratio: how often it was told, and how often the truth lay in its interval."""
    each = list(experiments(recorded, rounds))
    rows = []
    for slower in SLOWER:
        name = f"paced-{slower * 100:02.0f}"
        found = [estimate for one in each if (estimate := ratio(one, [_BASE, name])) is not None]
        held = [e.low <= 1 + slower <= e.high for e in found if e.low is not None and e.high is not None]
        detected = sum(apart(one, [_BASE, name]) for one in each)
        rows.append(
            [
                f"{slower:.0%}",
                str(len(each)),
                f"{detected / max(len(each), 1):.0%}",
                f"{sum(held) / len(held):.0%}" if held else "-",
                f"at least {GOAL:.0%}",
            ]
        )
    return table(["slower by", "experiments", "detected", "interval holds the truth", "goal"], rows)


def apart(one: Recorded, pair: Sequence[str]) -> bool:
    """Whether the report tells these two apart."""
    letters = {s.contender: set(s.letters) for verdict in analyse(*one).verdicts for s in verdict.standings}
    both = [letters.get(name, set()) for name in pair]
    return all(both) and not both[0] & both[1]
