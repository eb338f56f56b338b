"""``python -m bench.trust EXPERIMENT``: the answer is known.

As shown the numbers are the full ones; times are for a quiet machine of two cores. ``--short`` is a try of a minute.
``--keep FOLDER`` keeps the Runs; ``aa FOLDER``, ``known FOLDER`` and ``burning FOLDER`` make the table of such Runs
anew. ``--bursts`` has another program use half a core in bursts meanwhile.

    aa      one contender under two names, 40 experiments of 4 rounds (about 15 minutes)
    known   servers 2, 5, 10 and 30 % apart by the clock, 20 experiments of 4 rounds (about 18 minutes)
    burning a service that needs 4 % more CPU, three apps of 30 blocks; comparisons are drawn (about 15 minutes)
    bias    rates in turns beside those of long windows, twelve servers (about 8 minutes)
    rerun   quickstart twice in a row (about 10 minutes)
    replay  a race over the Runs of a results folder that holds every round (seconds; measures nothing)
    simulated  the race and the grid of study wsgi's original in 200 made-up worlds (about 10 minutes; measures nothing)
    worlds  noise that misleads, 500 experiments of each kind (a few minutes; measures nothing)
    blocks  the same by windows and by turns in blocks, on a machine that wanders (10 minutes; measures nothing)
    looks   claims that are looked at again after further rounds (10 minutes; measures nothing)
    loads   a ratio of one contender under two loads, by itself and beside others (a minute; measures nothing)
    stolen  rates as seen and as of usual theft, on a machine that loses time now and then (a minute; measures nothing)
    pictures   those of docs/honest-numbers.md, simulated
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from importlib import import_module
from pathlib import Path

from bench import machine
from bench.trust import bursts, studies

EXPERIMENTS = (
    "aa",
    "known",
    "burning",
    "bias",
    "rerun",
    "replay",
    "simulated",
    "worlds",
    "blocks",
    "looks",
    "loads",
    "stolen",
    "pictures",
)


SIMULATED = {
    "simulated": ("simulated", 8, 200),
    "worlds": ("hard", 20, 500),
    "blocks": ("turning", 10, 200),
    "looks": ("looking", 4, 300),
    "loads": ("loads", 20, 500),
    "stolen": ("stealing", 20, 500),
}
"""What measures nothing: its module, and how many worlds it has with ``--short`` and without."""
MEASURED = ("aa", "known", "burning", "bias", "rerun")


def main() -> None:
    """Parse, measure, print."""
    given = _parsed()
    watch = machine.Watch() if given.experiment in MEASURED and given.folder is None else None
    for line in _measured(given) if watch else _lines(given):
        print(line)
    for line in machine.lines(watch.seen()) if watch else []:
        print(line)


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench.trust", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiment", choices=EXPERIMENTS)
    parser.add_argument("folder", nargs="?", type=Path, help="replay, aa, known, burning: Runs that are there")
    parser.add_argument("--keep", type=Path, help="aa, known, burning, rerun: where the Runs stay (nowhere)")
    parser.add_argument("--contender", default="waitress", help="aa: which one (waitress)")
    parser.add_argument("--luck", type=float, default=0.02, help="known: how unlike starts are (0.02)")
    parser.add_argument("--study", default="quickstart", help="rerun: which one (quickstart)")
    parser.add_argument("--top", type=int, default=3, help="replay: places to settle, 0: all (3)")
    parser.add_argument("--precision", type=float, default=0.03, help="replay: rates nearer than this are equal (0.03)")
    parser.add_argument(
        "--worlds",
        type=int,
        default=None,
        help="simulated, worlds, blocks, looks, loads, stolen: how many (200, 500, 200, 300, 500, 500)",
    )
    parser.add_argument("--seed", type=int, default=None, help="these: of the first (the first never used)")
    parser.add_argument("--only", default="", help="blocks: worlds, burning: apps with this in their name")
    parser.add_argument("--alone", action="store_true", help="aa, known, rerun: each server alone, as before blocks")
    parser.add_argument(
        "--repeats", type=int, default=None, help="aa, known: experiments (40, 20); burning: blocks (30)"
    )
    parser.add_argument("--turn", type=float, default=None, help="bias: seconds of a turn at least (as ever)")
    parser.add_argument("--bursts", action="store_true", help="aa, known, burning, bias, rerun: a noisy neighbour")
    parser.add_argument("--short", action="store_true", help="few experiments of short Runs: does it work at all?")
    given = parser.parse_intermixed_args()
    if given.experiment == "rerun" and given.folder is not None:
        parser.error("rerun runs a study; name it with --study")
    if given.experiment == "replay" and given.folder is None:
        parser.error("replay needs the results folder of a study that ran every round")
    return given


def _measured(given: argparse.Namespace) -> list[str]:
    with bursts.neighbour() if given.bursts else contextlib.nullcontext():
        return _table(given)


def _table(given: argparse.Namespace) -> list[str]:
    seconds, rounds = (0.5, 3) if given.short else (1.5, 4)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) if given.keep is None else given.keep.absolute()
        folder.mkdir(parents=True, exist_ok=True)
        if given.experiment == "aa":
            from bench.trust import equal

            repeats = given.repeats or (3 if given.short else 40)
            return equal.run(folder, given.contender, repeats, rounds, seconds, alone=given.alone)
        if given.experiment == "known":
            from bench.trust import known

            repeats = given.repeats or (2 if given.short else 20)
            return known.run(folder, repeats, rounds, seconds, given.luck, alone=given.alone)
        if given.experiment == "burning":
            from bench.trust import burning

            return burning.run(folder, given.repeats or (4 if given.short else 30), burning.DRAWS, given.only)
        if given.experiment == "bias":
            from bench.trust import bias

            return bias.run(folder, 10.0 if given.short else bias.SECONDS, given.turn)
        from bench.trust import rerun

        return rerun.run(folder, "smoke" if given.short else given.study, ["--alone"] if given.alone else [])


def _lines(given: argparse.Namespace) -> list[str]:
    rounds = 3 if given.short else 4
    if given.experiment == "aa":
        from bench.trust import equal

        return equal.read_report(studies.read(given.folder), rounds)
    if given.experiment == "known":
        from bench.trust import known

        return known.report(studies.read(given.folder), rounds)
    if given.experiment == "burning":
        from bench.trust import burning

        return burning.read_report(given.folder, burning.DRAWS)
    if given.experiment in SIMULATED:
        return _simulated(given)
    if given.experiment == "pictures":
        from bench.trust import pictures

        return pictures.run(Path(__file__).parents[2] / "docs" / "honest")
    from bench.trust import replaying

    return replaying.run(given.folder, given.top, given.precision)


def _simulated(given: argparse.Namespace) -> list[str]:
    module, few, many = SIMULATED[given.experiment]
    worlds = import_module(f"bench.trust.{module}")
    first = worlds.FRESH if given.seed is None else given.seed
    asked: list[str] = worlds.run(
        few if given.short else given.worlds or many, first, *([given.only] if given.experiment == "blocks" else [])
    )
    return asked


if __name__ == "__main__":
    main()
