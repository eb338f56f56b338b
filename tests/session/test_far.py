"""Load from another host of a cluster, without a cluster: one that is lost is replaced by one that is like it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from tests.analyse.fakes import RIG
from tests.rig.strapping import own_lock, strapped
from webdyno.model.errors import LostError, MachineError, UsageError
from webdyno.rig.far import FarHost
from webdyno.rig.strap import Strapped
from webdyno.session.agent import About, about_here
from webdyno.session.far import Spares

__all__ = ["own_lock", "strapped"]
HERE = about_here()
OURS = msgspec.structs.replace(HERE, rig=RIG)


class Cluster:
    """Hosts by address with what their agents say of them; some do not answer, or are taken by another webdyno."""

    sign = "no-daemon-of-it"

    def __init__(self, hosts: dict[str, About | Exception]) -> None:
        self.hosts, self.given_back, self.agents = hosts, list[str](), list[str]()

    def for_load(self) -> list[str]:
        return [*self.hosts]

    @contextmanager
    def placed(self, _agent: object, _error_of: object, *, host: str) -> Iterator[list[FarHost]]:
        self.agents.append(host)
        yield [FarHost(self.call(host), host)]
        self.agents.remove(host)

    def call(self, host: str) -> Any:
        def call(verb: str, *_: object, within_s: float = 0.0) -> Any:
            if verb == "give_back":
                self.given_back.append(host)
                return None
            if isinstance(said := self.hosts[host], Exception):
                raise said
            return said

        return call

    def host(self, address: str) -> FarHost:
        host = FarHost(self.call(address), address)
        host.cores = (7,)
        return host

    def spares(self, ending: ExitStack, *first: str) -> Spares:
        node: Any = self
        return Spares(node, OURS, [self.host(address) for address in first], ending)


def like(**fields: Any) -> About:
    """Ours, but for these fields of its machine."""
    return msgspec.structs.replace(OURS, fingerprint=msgspec.structs.replace(OURS.fingerprint, **fields))


def anything(_: FarHost) -> None:
    """Fits."""


def test_the_next_host_that_is_like_the_first_makes_the_load_until_the_end() -> None:
    cluster = Cluster({"10.0.0.2": OURS, "10.0.0.3": like(cpu_model="Another"), "10.0.0.4": OURS})
    with ExitStack() as ending:
        host = cluster.spares(ending, "10.0.0.2").take(anything)
        assert (host.name, host.cores) == ("10.0.0.4", RIG.driver_cores)
        assert cluster.given_back == ["10.0.0.3"], "it is no use, and is not kept from others"
    assert cluster.given_back == ["10.0.0.3", "10.0.0.4"]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (like(cores=640), "of 640 cores, and the load came from"),
        (msgspec.structs.replace(OURS, rig=msgspec.structs.replace(RIG, driver_cores=(1, 2))), ", 2 of "),
        (like(webdyno="0.0.1"), "10.0.0.3 has webdyno 0.0.1 .*: install the same on every host"),
        (LostError("10.0.0.3, the host of the load, has not answered for 30 s"), "has not answered for 30 s"),
        (MachineError("10.0.0.3: another webdyno measures on this machine"), "another webdyno"),
    ],
)
def test_one_that_is_of_no_use_is_named_with_the_reason(other: About | Exception, said: str) -> None:
    with ExitStack() as ending:
        spares = Cluster({"10.0.0.2": OURS, "10.0.0.3": other}).spares(ending, "10.0.0.2")
        with pytest.raises(MachineError, match=f"^the cluster has no other host for the load; .*{said}"):
            spares.take(anything)


def test_one_that_lacks_what_the_plan_needs_is_passed_over() -> None:
    def fit(host: FarHost) -> None:
        if host.name == "10.0.0.3":
            raise UsageError("10.0.0.3 has wrk 4.1.0, and the load came from wrk 4.2.0")

    with ExitStack() as ending:
        cluster = Cluster(dict.fromkeys(("10.0.0.2", "10.0.0.3", "10.0.0.4"), OURS))
        assert cluster.spares(ending, "10.0.0.2").take(fit).name == "10.0.0.4"


def test_an_agent_stands_on_the_next_one_from_the_start_and_on_none_after_the_end() -> None:
    cluster = Cluster(dict.fromkeys(("10.0.0.2", "10.0.0.3", "10.0.0.4"), OURS))
    with ExitStack() as ending:
        spares = cluster.spares(ending, "10.0.0.2")
        assert cluster.agents == ["10.0.0.3"] and cluster.given_back == []
        spares.take(anything)
        assert cluster.agents == ["10.0.0.3"]
    assert cluster.agents == [] and cluster.given_back == ["10.0.0.3"]


def test_none_is_taken_twice() -> None:
    with ExitStack() as ending:
        spares = Cluster(dict.fromkeys(("10.0.0.2", "10.0.0.3"), OURS)).spares(ending, "10.0.0.2")
        assert spares.take(anything).name == "10.0.0.3"
        with pytest.raises(MachineError, match=r"^the cluster has no other host for the load$"):
            spares.take(anything)


def parted(strapped: Strapped, take: Callable[[object], FarHost]) -> list[FarHost]:
    """A machine whose load comes from two others, where ``take`` gives a third."""
    far = [FarHost(lambda *_, **__: None, f"10.0.0.{number}") for number in (2, 3)]
    for host in far:
        host.cores = (1,)
    strapped.part(far, strapped.rig, strapped.fingerprint, "10.0.0.1", None)
    strapped.spare = take
    return far


def test_each_that_is_lost_is_replaced_and_runs_say_so_from_then_on(strapped: Strapped) -> None:
    fresh: Any = SimpleNamespace(name="10.0.0.4", cores=(1,), lost="")
    one, other = parted(strapped, lambda _: fresh)
    assert (strapped.rig.driver_host, strapped.lost) == ("10.0.0.2, 10.0.0.3", "")
    assert strapped.replace_lost(anything) == []
    other.lost = "10.0.0.3, the host of the load, is gone"
    assert strapped.lost == other.lost
    assert strapped.replace_lost(anything) == ["10.0.0.3 is lost: load comes from 10.0.0.4 from now on"]
    assert list(strapped.far) == [one, fresh]
    assert (strapped.rig.driver_host, strapped.lost) == ("10.0.0.2, 10.0.0.4", "")


def test_one_machine_has_no_host_to_lose(strapped: Strapped, tmp_path: Path) -> None:
    assert strapped.lost == "" and strapped.replace_lost(anything) == []
