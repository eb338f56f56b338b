"""Folders of a user: where builds are kept, where results go, and whether anything can be written there."""

from __future__ import annotations

import datetime
import os
import tempfile
from pathlib import Path

from webdyno.model.errors import MachineError


def cache_folder() -> Path:
    """Where builds are kept: WEBDYNO_CACHE, else XDG_CACHE_HOME/webdyno, else ~/.cache/webdyno."""
    named = os.environ.get("WEBDYNO_CACHE")
    if named:
        return Path(named).absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache").absolute() / "webdyno"


def state_folder() -> Path:
    """Where results are kept that no folder was named for: XDG_STATE_HOME/webdyno, else ~/.local/state/webdyno."""
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state").absolute() / "webdyno"


def refuse_unwritable(folder: Path) -> None:
    """MachineError, before anything is built and measured, when ``folder`` cannot be made or written to.

    It is tried, for no right that can be asked about says whether it will do: nothing of that is left.
    """
    paths = (folder.absolute(), *folder.absolute().parents)
    missing = [path for path in paths if not path.exists()]
    there, made = paths[len(missing)], list[Path]()
    if not there.is_dir():
        raise MachineError(f"{folder} cannot be made ({there} is a file): give a folder you may write to")
    try:
        for path in reversed(missing):
            path.mkdir()
            made.append(path)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise MachineError(
            f"{folder} cannot be made or written to ({reason}): give a folder you may write to"
        ) from None
    finally:
        for path in reversed(made):
            path.rmdir()


def new_folder(results: Path, name: str) -> Path:
    """``results/NAME-20261121-180000``. MachineError when nothing can be made there."""
    refuse_unwritable(results)
    return results / f"{name}-{datetime.datetime.now().strftime('%Y%m%d-%H%M%S')}"
