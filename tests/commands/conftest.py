"""What all commands share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

from webdyno.commands import options
from webdyno.model.catalogue import Catalogue
from webdyno.read import default_folder, read_catalogue


@pytest.fixture(autouse=True, scope="session")
def shipped() -> Iterator[None]:
    """The catalogue that comes with webdyno is read once: it does not change while tests run."""
    once = cache(read_catalogue)

    def read(folders: Sequence[Path]) -> Catalogue:
        return once((default_folder(),)) if folders == [default_folder()] else read_catalogue(folders)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(options, "read_catalogue", read)
        yield
