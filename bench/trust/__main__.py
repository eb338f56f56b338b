"""``python -m bench.trust aa | known | rerun | replay | simulated | pictures``: experiments whose answer is known.

As shown the numbers are the full ones; times are for a quiet machine of two cores. ``--short`` is a try of a minute.

    aa      one contender under two names, 40 experiments of 4 rounds (about 15 minutes)
    known   servers 2, 5, 10 and 30 % apart by the clock, 20 experiments of 4 rounds (about 18 minutes)
    rerun   quickstart twice in a row (about 10 minutes)
    replay  a race over the Runs of a results folder that holds every round (seconds; measures nothing)
    simulated  the race and study S1's grid in 200 made-up worlds (about 10 minutes; measures nothing)
    pictures   those of docs/honest-numbers.md, simulated
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bench import machine


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(
        prog="bench.trust", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiment", choices=["aa", "known", "rerun", "replay", "simulated", "pictures"])
    parser.add_argument("folder", nargs="?", type=Path, help="replay: the results folder")
    parser.add_argument("--contender", default="waitress", help="aa: which one (waitress)")
    parser.add_argument("--luck", type=float, default=0.02, help="known: how unlike starts are (0.02)")
    parser.add_argument("--study", default="quickstart", help="rerun: which one (quickstart)")
    parser.add_argument("--top", type=int, default=3, help="replay: places to settle, 0: all (3)")
    parser.add_argument("--precision", type=float, default=0.03, help="replay: rates nearer than this are equal (0.03)")
    parser.add_argument("--worlds", type=int, default=200, help="simulated: how many (200)")
    parser.add_argument("--seed", type=int, default=None, help="simulated: of the first world (the first never used)")
    parser.add_argument("--short", action="store_true", help="few experiments of short Runs: does it work at all?")
    given = parser.parse_args()
    if given.experiment == "replay" and given.folder is None:
        parser.error("replay needs the results folder of a study that ran every round")
    watch = None if given.experiment in ("replay", "simulated", "pictures") else machine.Watch()
    for line in _lines(given):
        print(line)
    for line in machine.lines(watch.seen()) if watch else []:
        print(line)


def _lines(given: argparse.Namespace) -> list[str]:
    seconds = 0.5 if given.short else 1.5
    if given.experiment == "aa":
        from bench.trust import equal

        return equal.run(given.contender, 3 if given.short else 40, 3 if given.short else 4, seconds)
    if given.experiment == "known":
        from bench.trust import known

        return known.run(2 if given.short else 20, 3 if given.short else 4, seconds, given.luck)
    if given.experiment == "rerun":
        from bench.trust import rerun

        return rerun.run("smoke" if given.short else given.study, [])
    if given.experiment == "simulated":
        from bench.trust import simulated

        first = simulated.FRESH if given.seed is None else given.seed
        return simulated.run(8 if given.short else given.worlds, first)
    if given.experiment == "pictures":
        from bench.trust import pictures

        return pictures.run(Path(__file__).parents[2] / "docs" / "honest")
    from bench.trust import replaying

    return replaying.run(given.folder, given.top, given.precision)


if __name__ == "__main__":
    main()
