"""The engine and the reference servers, built from the sources beside us, or taken from where they are said to be."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PROFILES = ("dist", "release")


class Built(NamedTuple):
    """Programs of one Cargo profile."""

    profile: str
    folder: Path
    other_engine: Path | None = None

    @property
    def engine(self) -> Path:
        return self.other_engine or self.folder / "webdyno-engine"

    @property
    def instant(self) -> Path:
        return self.folder / "webdyno-instant"

    def example(self, name: str) -> Path:
        return self.folder / "examples" / name


def build(profile: str = "dist", engine: Path | None = None) -> Built:
    """``dist`` is what users get (whole-program optimisation); ``release`` builds in half the time.
    ``engine`` is one that was built elsewhere.
    """
    command = ["cargo", "build", "--locked", "--quiet", "--profile", profile, "-p", "webdyno-engine"]
    subprocess.run([*command, "--bins", "--examples"], cwd=ROOT, check=True)
    return Built(profile, ROOT / "target" / profile, engine)
