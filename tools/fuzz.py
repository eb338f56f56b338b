"""Fuzz the engine's readers in pieces, and write down how often each was executed: make fuzz.

Each target has two stages. ``led`` is libFuzzer: coverage leads it, and what it finds new joins a corpus of its own
in engine/fuzz/target, from which --keep takes what covers more than the committed one. ``fast`` makes
mutants of the committed corpus from a seed, many times as many, with nothing to lead them (``long`` in
engine/tests/fuzz/main.rs). Both run the same checks, with debug assertions and overflow checks and without
AddressSanitizer: the readers have no unsafe code. The counts add up in engine/fuzz/counts.toml, and stand as a table in
docs/contributing/fuzzing.md.
"""

# It prints, and starts cargo.
# ruff: noqa: T201

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
ENGINE = ROOT / "engine"
COUNTS = ENGINE / "fuzz" / "counts.toml"
PAGE = ROOT / "docs" / "contributing" / "fuzzing.md"
BEGIN, END = "<!-- counts: tools/fuzz.py -->\n", "<!-- end of counts -->\n"
LONGEST = {"chunks": 512, "command": 256, "frames": 1024, "heads": 512, "hpack": 512}
"""Bytes of an input; 4096 where nothing stands here."""
STAGES = ("led", "fast")


class Count(NamedTuple):
    """What one stage of one target came to, over all of its pieces."""

    executions: int
    seconds: float
    findings: int
    date: str
    """Of the last piece."""
    commit: str
    """Of the last piece; with a + where the engine was changed since."""


Counts = dict[tuple[str, str], Count]


def targets() -> list[str]:
    """As their folders are called."""
    return sorted(path.name for path in (ENGINE / "fuzz" / "corpus").iterdir())


def read_counts(path: Path = COUNTS) -> Counts:
    """Those written down; none where there is no file."""
    told = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {(target, stage): Count(**row) for target, stages in told.items() for stage, row in stages.items()}


def added(counts: Counts, target: str, stage: str, piece: Count) -> Counts:
    """``counts`` with one more piece."""
    before = counts.get((target, stage), Count(0, 0.0, 0, "", ""))
    sums = (before.executions + piece.executions, round(before.seconds + piece.seconds, 1))
    return counts | {
        (target, stage): piece._replace(executions=sums[0], seconds=sums[1], findings=before.findings + piece.findings)
    }


def as_toml(counts: Counts) -> str:
    """What ``read_counts`` reads."""
    rows = [
        f"[{target}.{stage}]\nexecutions = {it.executions}\nseconds = {it.seconds}\nfindings = {it.findings}\n"
        f'date = "{it.date}"\ncommit = "{it.commit}"\n'
        for (target, stage), it in sorted(counts.items())
    ]
    return "# Written by tools/fuzz.py, which adds to it.\n\n" + "\n".join(rows)


def as_table(counts: Counts) -> str:
    """For the page."""
    rows = [
        f"| {target} | {stage} | {it.executions:,} | {it.seconds:,.0f} | {it.executions / max(it.seconds, 1):,.0f} "
        f"| {it.findings} | {it.date} | {it.commit} |\n"
        for (target, stage), it in sorted(counts.items())
    ]
    whole = [sum(it.executions for it in counts.values()), sum(it.findings for it in counts.values())]
    seconds = sum(it.seconds for it in counts.values())
    return (
        "| target | stage | executions | seconds | a second | findings | last | commit |\n"
        "|---|---|--:|--:|--:|--:|---|---|\n"
        + "".join(rows)
        + f"| **all** | | **{whole[0]:,}** | {seconds:,.0f} | | {whole[1]} | | |\n"
    )


def on_page(page: str, counts: Counts) -> str:
    """``page`` with the table of ``counts``."""
    head, _, rest = page.partition(BEGIN)
    return f"{head}{BEGIN}{as_table(counts)}{END}{rest.partition(END)[2]}"


def _run(argv: list[str], **more: str) -> tuple[int, str]:
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        status = subprocess.run(
            argv, cwd=ENGINE, env=os.environ | more, stdout=said, stderr=said, check=False
        ).returncode
        said.seek(0)
        return status, said.read()


def led(target: str, seconds: int, _: int) -> tuple[int, int, str]:
    """One piece of libFuzzer: executions, findings, what it said."""
    found = ENGINE / "fuzz" / "target" / "found" / target
    found.mkdir(parents=True, exist_ok=True)
    flags = [f"-max_total_time={seconds}", f"-max_len={LONGEST.get(target, 4096)}", "-print_final_stats=1"]
    status, said = _run([*_cargo_fuzz("run"), target, str(found), str(_kept(target)), "--", *flags])
    count = re.search(r"number_of_executed_units: (\d+)", said)
    return int(count[1]) if count else 0, status != 0, said


def fast(target: str, seconds: int, seed: int) -> tuple[int, int, str]:
    """One piece of mutants from a seed."""
    checks = [f"--config=profile.release.{which}=true" for which in ("debug-assertions", "overflow-checks")]
    argv = ["cargo", "test", "--quiet", "--locked", "--release", *checks, "--test", "fuzz", "--", "--ignored", "long"]
    status, said = _run([*argv, "--exact", "--nocapture"], FUZZ=f"{target} {seed} {seconds}")
    count = re.search(r"(\d+) executions", said)
    return int(count[1]) if count else 0, status != 0, said


def keep(target: str) -> int:
    """Copy into the committed corpus what covers more than it does; how many files that were."""
    kept, found = _kept(target), ENGINE / "fuzz" / "target" / "found" / target
    before = len(list(kept.iterdir()))
    flags = ["-merge=1", "-use_counters=0", f"-max_len={LONGEST.get(target, 4096)}"]
    _run([*_cargo_fuzz("run"), target, str(kept), str(found), "--", *flags])
    return len(list(kept.iterdir())) - before


def _kept(target: str) -> Path:
    return ENGINE / "fuzz" / "corpus" / target


def _cargo_fuzz(what: str) -> list[str]:
    return ["cargo", "+nightly", "fuzz", what, "--sanitizer=none", "--debug-assertions"]


def _commit() -> str:
    read = ["engine/src", "engine/tests"]
    head = subprocess.run(
        ["git", "rev-parse", "--short=8", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    changed = subprocess.run(["git", "diff", "--quiet", "HEAD", "--", *read], cwd=ROOT, check=False).returncode
    return head.stdout.strip() + ("+" if changed else "")


def write(counts: Counts) -> None:
    """Into the file and onto the page."""
    COUNTS.write_text(as_toml(counts), encoding="utf-8")
    PAGE.write_text(on_page(PAGE.read_text(encoding="utf-8"), counts), encoding="utf-8")


def main() -> int:
    """Exit code 1: something was found, and is printed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", help="all, when none is named")
    parser.add_argument("--seconds", type=int, default=60, help="of each stage of each target (60)")
    parser.add_argument("--stage", choices=STAGES, action="append", help="one stage only")
    parser.add_argument("--keep", action="store_true", help="what was found joins the committed corpus")
    asked = parser.parse_args()
    status = 0
    for target in asked.targets or targets():
        for stage in asked.stage or STAGES:
            seed, begun = int(time.time()) % (1 << 23), time.monotonic()
            executions, findings, said = {"led": led, "fast": fast}[stage](target, asked.seconds, seed)
            seconds = min(time.monotonic() - begun, float(asked.seconds))  # without what was compiled before
            piece = Count(executions, seconds, findings, time.strftime("%Y-%m-%d", time.gmtime()), _commit())
            write(added(read_counts(), target, stage, piece))
            print(f"{target}, {stage}: {executions:,} executions in {seconds:.0f} s, seed {seed}", flush=True)
            if findings:
                print(said[-8000:], file=sys.stderr)
                status = 1
        if asked.keep:
            print(f"{target}: {keep(target)} files joined the corpus")
    return status


if __name__ == "__main__":
    sys.exit(main())
