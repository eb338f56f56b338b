"""The catalogue that comes with webdyno, read once in each process: it does not change while tests run."""

from __future__ import annotations

from functools import cache

from webdyno.model.catalogue import Catalogue
from webdyno.read import default_folder, read_catalogue


@cache
def catalogue() -> Catalogue:
    return read_catalogue([default_folder()])
