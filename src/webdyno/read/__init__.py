"""From catalogue folders to a Catalogue in which every name can be looked up, or one sentence that says what is wrong.

    lines.py     TOML text -> the line each key and list item stands on (tomllib does not tell)
    source.py    one file -> its data and lines, and the complaint about any key of it
    convert.py   data -> a noun; what msgspec says about a bad one, in words a person can act on
    check.py     what a type cannot say: references, rules, placeholders, pins, contradictions
    expand.py    a matrix -> the contenders and apps it stands for; check_matrix.py: what can be wrong with it
    folders.py   which files there are, and what belongs together
    schema.py    a JSON schema per kind of file, so that editors complete and validate

It refuses to guess: an unknown key, a name that is given twice, a requirement that is not pinned are errors here,
before anything is built or measured.
"""

from webdyno.read.expand import cells
from webdyno.read.folders import default_folder, read_catalogue, read_requests, read_study
from webdyno.read.schema import schema_text, write_schemas

__all__ = [
    "cells",
    "default_folder",
    "read_catalogue",
    "read_requests",
    "read_study",
    "schema_text",
    "write_schemas",
]
