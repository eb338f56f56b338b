"""Studies made for an experiment: a catalogue folder of our own, `webdyno run` on it, and the Runs that came of it."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.read import default_folder
from webdyno.store import Store


class Recorded(NamedTuple):
    """What a results folder holds."""

    plan: Plan
    fingerprint: Fingerprint
    runs: list[Run]


def record(study: str, results: Path, *flags: str) -> Recorded:
    """Run a study and read it; what webdyno says meanwhile goes to standard error."""
    argv = [sys.executable, "-m", "webdyno", "run", study, "--wait", "--trust", "--results", str(results), *flags]
    ended = subprocess.run(argv, check=False, stdout=subprocess.DEVNULL)
    folders = sorted(results.glob("*/results.sqlite"), key=lambda file: file.stat().st_mtime)
    if ended.returncode not in (0, 1) or not folders:
        raise SystemExit(f"webdyno run {study} ended with status {ended.returncode}; what it said stands above")
    return read(folders[-1].parent)


def read(folder: Path) -> Recorded:
    """A results folder that exists."""
    with Store.open(folder) as store:
        return Recorded(store.plan(), store.fingerprint(), store.runs())


def write_study(
    folder: Path, names: Sequence[str], rounds: int, seconds: float, *, connections: int = 16, name: str = "trust"
) -> Path:
    """A study of ``names`` on hello."""
    file = folder / f"{name}.toml"
    listed = ", ".join(f'"{name}"' for name in names)
    file.write_text(
        f'title = "Is it to be trusted?"\nquestion = "Does webdyno find what we know?"\ncontenders = [{listed}]\n'
        f'workloads = ["hello"]\nrounds = {rounds}\n\n[[loads]]\nconnections = [{connections}]\n'
        f"duration_s = {seconds}\nwarmup_s = 0.5\n"
    )
    return file


def twin(folder: Path, name: str) -> str:
    """A contender of the catalogue under a second name, its lock included; that name."""
    again = f"{name}-again"
    for kind, ending in (("contenders", "toml"), ("locks", "txt")):
        source = default_folder() / kind / f"{name}.{ending}"
        if source.exists():
            (folder / kind).mkdir(parents=True, exist_ok=True)
            text = source.read_text().replace("#:schema ../schemas/contender.json\n", "")
            (folder / kind / f"{again}.{ending}").write_text(text)
        elif kind == "contenders":
            raise SystemExit(f"there is no contender {name!r}; see: webdyno list contenders")
    return again


def experiments(recorded: Recorded, rounds: int) -> Iterator[Recorded]:
    """The rounds of one long study, so many at a time, each as a study of its own; an incomplete last one is left."""
    for first in range(1, recorded.plan.rounds - rounds + 2, rounds):
        yield within(recorded, first, first + rounds - 1)


def within(recorded: Recorded, first: int, last: int) -> Recorded:
    """Only these rounds."""
    return of_rounds(recorded, range(first, last + 1))


def of_rounds(recorded: Recorded, rounds: Collection[int]) -> Recorded:
    """Only these."""
    trials = [trial for trial in recorded.plan.trials if trial.round in rounds]
    runs = [run for run in recorded.runs if run.trial.round in rounds]
    plan = msgspec.structs.replace(recorded.plan, trials=trials, rounds=len(rounds))
    return Recorded(plan, recorded.fingerprint, runs)


def of_contenders(recorded: Recorded, names: Collection[str]) -> Recorded:
    """Only theirs."""
    trials = [trial for trial in recorded.plan.trials if trial.contender in names]
    runs = [run for run in recorded.runs if run.trial.contender in names]
    known = {name: contender for name, contender in recorded.plan.contenders.items() if name in names}
    return Recorded(msgspec.structs.replace(recorded.plan, trials=trials, contenders=known), recorded.fingerprint, runs)


def drawn(recorded: Recorded, rounds: int, number: int) -> Iterator[Recorded]:
    """So many experiments of as many rounds each, drawn at random from all there are: few of them share two."""
    chance = random.Random(1)
    every = range(1, recorded.plan.rounds + 1)
    for _ in range(number):
        yield of_rounds(recorded, frozenset(chance.sample(every, rounds)))
