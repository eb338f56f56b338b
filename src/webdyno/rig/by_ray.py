"""By Ray: hosts of a Ray cluster, and calls to an agent on one of them. Ray places, starts and watches; it measures
nothing. The only file that knows Ray, imported when ``--far`` is asked for and never before.

We attach as a node of the cluster (its Python, its authentication), never by Ray's remote client. A cluster without
authentication executes what anyone sends who reaches it: so a question is asked without a token first, and one that
answers it is refused.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from webdyno.model.errors import LostError, MachineError, UsageError
from webdyno.model.place import Cluster
from webdyno.rig.far import LOST_S, Call, FarHost
from webdyno.rig.head import Head, watched

DRIVER_RESOURCE = "webdyno_driver"
"""A Ray resource that a host has which is to make load; where no host has it, any but ours may."""
CONTENDER_RESOURCE = "webdyno_contender"
"""One that a host of a fleet has; where no host has it, all but ours are of the fleet."""
_PLACED_S = 20.0
_ASK = """import sys
from ray._raylet import GcsClient
found = GcsClient(address=sys.argv[1]).internal_kv_get(b"CLUSTER_METADATA", b"cluster", timeout=5)
sys.stdout.write(found.decode())
"""


@dataclass(frozen=True, kw_only=True)
class Attached:
    """This machine as a node of a cluster."""

    version: str
    """``Ray 2.60.0``."""
    address: str
    """Of this host, as the cluster reaches it."""
    sign: str
    """What the command lines of all its daemons hold."""
    head: Head
    ray: Any

    @contextlib.contextmanager
    def placed(
        self, agent: type, error_of: Callable[[str, str], Exception], number: int = 1, host: str | None = None
    ) -> Iterator[list[FarHost]]:
        """This many agents, each on another host, and none on this one: on ``host``, or where loads are to be made.

        MachineError where there are fewer.
        """
        from ray.util.placement_group import placement_group, remove_placement_group
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        wanted = {f"node:{host}": 0.001} if host else self._wanted()
        bundles = [{f"node:{self.address}": 0.001}, *[wanted] * number]
        group = placement_group(bundles, strategy="STRICT_SPREAD")
        try:
            if not group.wait(_PLACED_S):
                raise MachineError(self._unplaced(number, host))
            made = self.ray.remote(num_cpus=0, max_restarts=0, max_concurrency=8)(agent)
            with contextlib.ExitStack() as ending:
                hosts = []
                for index in range(1, number + 1):
                    where = PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=index)
                    actor = made.options(scheduling_strategy=where).remote()
                    ending.callback(self._end, self.ray.kill, actor)
                    name = self._address_of(group, index)
                    hosts.append(FarHost(_caller(self, actor, name, error_of), name))
                yield hosts
        finally:
            self._end(remove_placement_group, group)

    def _unplaced(self, number: int, host: str | None) -> str:
        if host is not None:
            return f"{host} has taken no agent within {_PLACED_S:.0f} s"
        lacking = "no second host that is" if number == 1 else f"not {number} hosts beside this one that are"
        return (
            f"the cluster has {lacking} free for load: start a node on one, with ray start "
            f"--address={self.address}:6379 --resources='{{\"{DRIVER_RESOURCE}\": 1}}'"
        )

    @contextlib.contextmanager
    def manned(self, agent: type, error_of: Callable[[str, str], Exception]) -> Iterator[dict[str, Call]]:
        """An agent on each host that is to have contenders, by its address. MachineError where there is none."""
        addresses = self._having(CONTENDER_RESOURCE)
        if not addresses:
            raise MachineError(
                "the cluster has no host for contenders: start a node on one, with ray start "
                f"--address={self.address}:6379 --resources='{{\"{CONTENDER_RESOURCE}\": 1}}'"
            )
        made = self.ray.remote(num_cpus=0, max_restarts=0, max_concurrency=8)(agent)
        with contextlib.ExitStack() as ending:
            calls: dict[str, Call] = {}
            for address in addresses:
                actor = made.options(resources={f"node:{address}": 0.001}).remote()
                ending.callback(self._end, self.ray.kill, actor)
                calls[address] = _caller(self, actor, address, error_of, "a host of the fleet")
            yield calls

    def for_load(self) -> list[str]:
        """Addresses of the other hosts that are to make load. MachineError where the head is lost."""
        if not self.head.answers():
            raise MachineError(f"{self.head.address}, the head of the cluster, is gone: start it and its nodes again")
        return [address for address in self._having(DRIVER_RESOURCE) if address != self.address]

    def _having(self, resource: str) -> list[str]:
        alive = [node for node in self.ray.nodes() if node["Alive"]]
        named = [node["NodeManagerAddress"] for node in alive if resource in node["Resources"]]
        return sorted(set(named)) or self.others()

    def _end(self, end: Callable[[Any], object], what: Any) -> None:
        """Let the head end something; where it is gone, its nodes follow it, and nobody waits for it."""
        if self.head.answers():
            with contextlib.suppress(Exception):
                end(what)

    def others(self) -> list[str]:
        """Addresses of the other hosts that live."""
        found = {node["NodeManagerAddress"] for node in self.ray.nodes() if node["Alive"]}
        return sorted(found - {self.address})

    def _wanted(self) -> dict[str, float]:
        has = any(DRIVER_RESOURCE in node["Resources"] for node in self.ray.nodes() if node["Alive"])
        return {DRIVER_RESOURCE: 1} if has else {"CPU": 1}

    def _address_of(self, group: Any, index: int) -> str:
        from ray.util import placement_group_table

        node = placement_group_table(group)["bundles_to_node_id"][index]
        return next(str(each["NodeManagerAddress"]) for each in self.ray.nodes() if each["NodeID"] == node)


@contextlib.contextmanager
def attached(cluster: Cluster) -> Iterator[Attached]:
    """UsageError, before anything is started, for a cluster that is not to be joined; MachineError."""
    ray = _ray()
    address = _address(cluster.address)
    if not cluster.insecure:
        _refuse_open(address)
    _refuse_other_versions(address, ray.__version__)
    try:
        ray.init(
            address=address,
            namespace="webdyno",
            log_to_driver=False,
            configure_logging=False,
            logging_level="ERROR",
        )
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise MachineError(
            f"--far {cluster.address}: this machine is no node of that cluster ({_first(error)}); make it one: "
            f"ray start --address={address}"
        ) from None
    with watched(address) as head:
        try:
            here = str(ray.util.get_node_ip_address())
            refuse_public(here, allow=cluster.allow_public)
            sign = os.path.basename(ray._private.worker._global_node.get_session_dir_path())  # noqa: PTH119
            yield Attached(version=f"Ray {ray.__version__}", address=here, sign=sign, head=head, ray=ray)
        finally:
            ray.shutdown()


def refuse_public(address: str, *, allow: bool) -> None:
    """UsageError for an address that the whole internet may reach, unless that is allowed."""
    if not allow and ipaddress.ip_address(address).is_global:
        raise UsageError(
            f"contenders would listen on {address}, which is a public address: give the hosts a private network "
            "and pass its address to ray start --node-ip-address, or use --allow-public behind a firewall that "
            "admits only the hosts"
        )


def _ray() -> Any:
    try:
        import ray
        import ray.util
    except ImportError:
        raise UsageError("--far needs Ray: install webdyno[far] on every host") from None
    return ray


def _address(said: str) -> str:
    """``HOST:PORT``; UsageError."""
    if "://" in said:
        raise UsageError(f"--far {said}: webdyno joins as a node and not by Ray's client: give HOST:PORT, or auto")
    if said != "auto":
        return said
    from ray._private import services

    try:
        return str(services.canonicalize_bootstrap_address_or_die("auto"))
    except ConnectionError:
        raise MachineError("--far auto: no Ray node runs on this machine: ray start --address=HEAD:6379") from None


def _asked(address: str, **environment: str) -> str | None:
    """What the cluster says of its versions to one who asks with this environment; None: nothing."""
    try:
        run = subprocess.run(
            [sys.executable, "-c", _ASK, address],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    return run.stdout if run.returncode == 0 and run.stdout else None


def _refuse_open(address: str) -> None:
    if _asked(address, RAY_AUTH_MODE="disabled") is not None:
        raise UsageError(
            f"the cluster at {address} requires no token, so anyone who reaches it can execute anything on all "
            "of its hosts: start every node with RAY_AUTH_MODE=token and one token, or use --insecure-cluster"
        )


_Version = Annotated[str, msgspec.Meta(pattern=r"^[0-9A-Za-z.+_-]{1,40}\Z")]


class _Versions(msgspec.Struct):
    ray_version: _Version
    python_version: _Version


def versions_in(said: str, address: str) -> str:
    """``Ray 2.60.0 and Python 3.12.3``, from what a cluster says of itself; MachineError for anything else."""
    try:
        found = msgspec.json.decode(said.encode("utf-8", "replace"), type=_Versions)
    except (msgspec.DecodeError, RecursionError):
        raise MachineError(
            f"what answers at {address} says no versions of Ray and Python: give the address of a cluster's head, "
            "HOST:PORT as ray start --head printed it"
        ) from None
    return f"Ray {found.ray_version} and Python {found.python_version}"


def _refuse_other_versions(address: str, ours: str) -> None:
    said = _asked(address)
    if said is None:
        raise MachineError(
            f"the cluster at {address} does not answer, or rejects this token: check that it runs, and that "
            "RAY_AUTH_MODE and RAY_AUTH_TOKEN_PATH are the same here and there"
        )
    theirs = versions_in(said, address)
    mine = f"Ray {ours} and Python {platform.python_version()}"
    if theirs != mine:
        raise UsageError(f"the cluster at {address} has {theirs}, and here are {mine}: install the same on every host")


def _caller(
    node: Attached,
    actor: Any,
    name: str,
    error_of: Callable[[str, str], Exception],
    role: str = "the host of the load",
) -> Call:
    """A Call (rig/far.py)."""
    ray = node.ray

    def call(verb: str, *arguments: Any, within_s: float = LOST_S) -> Any:
        if node.head.lost and verb != "give_back":  # nothing else is left to be done
            raise LostError(node.head.lost)
        try:
            kind, value = ray.get(actor.answer.remote(verb, arguments), timeout=within_s)
        except ray.exceptions.GetTimeoutError:
            raise LostError(f"{name}, {role}, has not answered for {within_s:.0f} s") from None
        except ray.exceptions.RayError as error:
            if "No module named" in str(error):
                raise MachineError(
                    f"{name} has Ray, but no webdyno of this version: install webdyno[far] there"
                ) from None
            if isinstance(error, ray.exceptions.RayTaskError):  # its own fault, and it lives
                raise MachineError(f"{name}, {role}, has failed ({_last(error)})") from None
            raise LostError(f"{name}, {role}, is gone ({_first(error)})") from None
        if kind:
            raise error_of(kind, f"{name}: {value}")
        return value

    return call


def _first(error: Exception) -> str:
    """The first line of what Ray said, which may be a page."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".")[:200] if lines else type(error).__name__


def _last(error: Exception) -> str:
    """The last line, which says what it was where the others say where."""
    return ([*str(error).strip().splitlines()] or [type(error).__name__])[-1].rstrip(".")[:200]
