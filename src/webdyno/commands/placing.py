"""The flags that say on which machine load is made.

Annotations are evaluated here and now, and not kept as text: the classes that take these flags over lie in files that
do not know the names in them.
"""

from dataclasses import dataclass
from typing import Annotated

import msgspec
from cyclopts import Parameter

from webdyno.commands.options import flag
from webdyno.model.errors import UsageError
from webdyno.model.place import Cluster


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Placing:
    """Where load tools are started."""

    far: Annotated[
        str | None,
        flag("--far", help="Generate the load on another host of this Ray cluster: HOST:PORT of its head, or auto."),
    ] = None
    allow_public: Annotated[
        bool, flag("--allow-public", help="With --far: let contenders listen on a public address.")
    ] = False
    insecure_cluster: Annotated[
        bool, flag("--insecure-cluster", help="With --far: accept a Ray cluster that requires no token.")
    ] = False

    @property
    def arguments(self) -> list[str]:
        """As on a command line."""
        flags = {"--allow-public": self.allow_public, "--insecure-cluster": self.insecure_cluster}
        far = [] if self.far is None else ["--far", self.far]
        return [*far, *(name for name, said in flags.items() if said)]

    @property
    def cluster(self) -> Cluster | None:
        """The cluster; None: load is made here. UsageError for a flag that needs --far."""
        if self.far is not None:
            return Cluster(address=self.far, allow_public=self.allow_public, insecure=self.insecure_cluster)
        for name in self.arguments:
            raise UsageError(f"{name} needs another machine: name its cluster too, --far HOST:PORT")
        return None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Spreading(Placing):
    """Where a study is measured."""

    fleet: Annotated[
        bool,
        flag("--fleet", help="With --far: measure on several hosts of the cluster at once, each with its own load."),
    ] = False

    @property
    def arguments(self) -> list[str]:
        """As on a command line."""
        return [*super().arguments, *(["--fleet"] if self.fleet else [])]

    @property
    def cluster(self) -> Cluster | None:
        """As of ``Placing``."""
        placed = super().cluster
        return None if placed is None else msgspec.structs.replace(placed, fleet=self.fleet)
