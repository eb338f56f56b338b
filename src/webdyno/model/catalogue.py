"""Catalogue: everything that was read from the catalogue folders, by kind and name."""

from __future__ import annotations

from pathlib import Path

import msgspec

from webdyno.model.contender import App, Contender, Runtime
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
    services: dict[str, Service] = {}
    service_directories: dict[str, Path] = {}
    """Sources of each embedded service."""
