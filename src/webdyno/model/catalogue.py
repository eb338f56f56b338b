"""Catalogue: everything that was read from the catalogue folders, by kind and name."""

from __future__ import annotations

from pathlib import Path

import msgspec

from webdyno.model.contender import App, Contender, Runtime
from webdyno.model.matrix import Matrix
from webdyno.model.service import Service
from webdyno.model.study import Study
from webdyno.model.workload import Workload


class Catalogue(msgspec.Struct, frozen=True, kw_only=True):
    """References between the files are already checked: every name in here can be looked up in here."""

    contenders: dict[str, Contender]
    apps: dict[str, App]
    runtimes: dict[str, Runtime]
    workloads: dict[str, Workload]
    studies: dict[str, Study]
    app_directories: dict[str, Path]
    """Sources of each app."""
    locks: dict[str, Path]
    """Lock file of each contender that has one."""
    lock_places: dict[str, Path] = {}
    """Where the lock of each contender belongs, whether it is there or not; those of a matrix share it by runtime."""
    services: dict[str, Service] = {}
    service_directories: dict[str, Path] = {}
    """Sources of each embedded service."""
    matrices: dict[str, Matrix] = {}
    matrix_of: dict[str, str] = {}
    """The matrix of each contender that was written as a combination of one."""
    excluded: dict[str, str] = {}
    """Each combination that a matrix leaves out, with the matrix and its reason as the end of a sentence."""
