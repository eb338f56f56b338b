"""Packages: what an environment of Python really holds."""

from __future__ import annotations

import msgspec
import uv

from webdyno.build.tool import Workshop, ask
from webdyno.model.errors import BuildError


class _Listed(msgspec.Struct):
    name: str
    version: str


def packages_in(python: str, workshop: Workshop) -> dict[str, str]:
    """Name and version of everything installed for that interpreter, as uv lists it. BuildError when it cannot.

    An empty answer in its place would be kept with the environment, and no report could say what was measured.
    """
    argv = [uv.find_uv_bin(), "pip", "list", "--format", "json", "--python", python]
    listed = ask(workshop.host, argv, errors=workshop.log)
    if listed is None:
        raise BuildError("could not read which packages were installed: uv pip list failed", workshop.tail())
    return {package.name: package.version for package in msgspec.json.decode(listed, type=list[_Listed])}
