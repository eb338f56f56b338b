"""Results files made to harm: each is read in every way there is, by a child with little memory and little time.

From a seed comes a small real file, and from a number what is done to it: bits flipped, pages moved, a log that speaks
of pages there are not, views in place of tables, triggers, columns that are computed, JSON of any depth, numbers of any
size, histograms of senseless settings, pipes and links beside the file. What may come of it is a value or one sentence;
anything else is printed with the number that makes it again (``--only NUMBER``).
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import NamedTuple

import msgspec

from bench.harming import WAYS
from tests.analyse import fakes
from webdyno import now
from webdyno.export import FORMATS, export
from webdyno.model.errors import WebdynoError
from webdyno.session.reports import rendered
from webdyno.store import FILE, Store
from webdyno.wal import is_written, signature

Reader = Callable[[Path], object]
FORMS = ("md", "html", "csv", "json", "openmetrics")
_MOST_S, _MOST_BYTES = 2.0, 200 << 20
_ENDED_S = 20
_ROOM_BYTES = 4 << 30


class Came(NamedTuple):
    """What came of one file."""

    what: str
    """value, error, or the end of a traceback."""
    cpu_s: float
    """Of the reading that took the longest."""
    peak_bytes: int


def base(folder: Path) -> Path:
    """A results folder of two contenders in two rounds, one of them stopped and repeated."""
    rng = fakes.np.random.default_rng(7)
    runs = [
        fakes.run(name, round_=number, rate=500.0, latency_ns=fakes.spread(rng, 2e6, 0.5, 1000))
        for number in (1, 2)
        for name in ("go", "node")
    ]
    with Store.create(folder, fakes.plan(runs), fakes.FINGERPRINT) as store:
        store.append(msgspec.structs.replace(runs[0], outcome="interrupted"))
        store.append_all(runs)
    return folder


def harmed(origin: Path, folder: Path, number: int, ways: Sequence[str] = tuple(WAYS)) -> str:
    """Make ``folder`` a harmed copy of ``origin``; the way it was done, one of ``ways``."""
    chance = Random(number)
    shutil.copytree(origin, folder)
    name = chance.choice(ways)
    WAYS[name](folder / FILE, chance)
    return name


def _opened(folder: Path, ask: Callable[[Store], object], *, writable: bool = False) -> object:
    with Store.open(folder, writable=writable) as store:
        return ask(store)


def _looked_at(store: Store) -> object:
    return store.heads(), store.rates(), store.done(), store.numbered(replaced=True), store.fingerprints()


def _peeked(folder: Path) -> object:
    with Store.peek(folder, checked=False) as store:
        return _looked_at(store)


def _resumed(store: Store) -> object:
    store.append(fakes.run("go", round_=2))
    return store.plan()


STORE: list[Reader] = [
    _peeked,
    lambda folder: _opened(folder, _looked_at),
    lambda folder: _opened(folder, _resumed, writable=True),
]
"""Ways to read the file itself."""


def whole(number: int) -> list[Reader]:
    """And what is made of it; of reports and exports one form each, in turn."""
    form, other = FORMS[number % len(FORMS)], FORMATS[number % len(FORMATS)]

    def reported(folder: Path) -> object:
        return _opened(folder, lambda store: rendered(store, form))

    def exported(folder: Path) -> object:
        return _opened(folder, lambda store: export(store.numbered(), other, folder / "out"))

    return [*STORE[:-1], reported, exported, STORE[-1]]


def read_all(folder: Path, readers: Sequence[Reader]) -> str:
    """What came of it, value or error, and how long the longest reading took; what is not ours comes out of it."""
    signature(folder / FILE), is_written(folder / FILE), now.read(folder)
    found, longest_s = set(), 0.0
    for reading in readers:
        begin = time.process_time()
        try:
            reading(folder)
            found.add("value")
        except WebdynoError as error:
            if "\n" in str(error).strip() or len(str(error)) > 2000:
                raise AssertionError(f"no sentence: {error}") from error
            found.add("error")
        longest_s = max(longest_s, time.process_time() - begin)
    return f"{'value' if 'value' in found else 'error'} {longest_s:.3f}"


def in_child(folder: Path, readers: Sequence[Reader]) -> Came:
    """All there is made of the folder, in a process of its own that may use little of the machine."""
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(told)
        with suppress(BaseException), Path(os.devnull).open("w") as nowhere:
            os.dup2(nowhere.fileno(), 2)
            resource.setrlimit(resource.RLIMIT_CPU, (_ENDED_S, _ENDED_S + 1))
            resource.setrlimit(resource.RLIMIT_AS, (_ROOM_BYTES, _ROOM_BYTES))
            signal.alarm(2 * _ENDED_S)  # what waits uses no processor
            try:
                said = read_all(folder, readers)
            except BaseException:
                said = traceback.format_exc()
            os.write(tell, said[-4000:].encode())
        os._exit(0)
    os.close(tell)
    with os.fdopen(told, "rb") as pipe:
        said = pipe.read().decode()
    _, status, used = os.wait4(child, 0)
    word, _, longest_s = said.partition(" ")
    if os.WIFSIGNALED(status) or word not in ("value", "error"):
        what = f"ended by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else said
        return Came(what, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
    return Came(word, float(longest_s), used.ru_maxrss * 1024)


def verdict(came: Came, quiet: Came) -> str:
    """value, error, or what is wrong; ``quiet`` is what came of the file as it was."""
    if came.what not in ("value", "error"):
        return came.what
    if came.cpu_s > _MOST_S:
        return f"took {came.cpu_s:.1f} s"
    more = came.peak_bytes - quiet.peak_bytes
    return f"took {more >> 20} MB more" if more > _MOST_BYTES else came.what


def main(arguments: list[str]) -> int:
    """The command; 1 where anything but a value or a sentence came."""
    parser = argparse.ArgumentParser(prog="python -m bench.hostile", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="for how long (default: 60)")
    parser.add_argument("--begin", type=int, default=0, help="number of the first file (default: 0)")
    parser.add_argument("--only", type=int, help="this one file alone")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS), help="only these ways (default: all)")
    asked = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    worst_s, worst_bytes, wrong = 0.0, 0, 0
    end = time.monotonic() + asked.seconds
    with tempfile.TemporaryDirectory(prefix="webdyno-hostile-") as room:
        origin = base(Path(room) / "origin")
        quiet = in_child(shutil.copytree(origin, Path(room) / "quiet"), whole(0))
        number = asked.begin if asked.only is None else asked.only
        while time.monotonic() < end:
            folder = Path(room) / str(number)
            way = harmed(origin, folder, number, asked.ways)
            came = in_child(folder, whole(number))
            said = verdict(came, quiet)
            worst_s, worst_bytes = max(worst_s, came.cpu_s), max(worst_bytes, came.peak_bytes - quiet.peak_bytes)
            counts[f"{way}: {said if said in ('value', 'error') else 'wrong'}"] += 1
            if said not in ("value", "error"):
                wrong += 1
                print(f"{number} ({way}): {said}", flush=True)
            shutil.rmtree(folder)
            number += 1
            if asked.only is not None:
                break
    print(f"files {number - asked.begin} ({asked.begin} to {number - 1}), wrong {wrong}")
    print("".join(f"  {what}: {times}\n" for what, times in sorted(counts.items())), end="")
    print(f"most CPU {worst_s:.2f} s (as it was: {quiet.cpu_s:.2f} s), most memory {worst_bytes >> 20} MB more")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
