"""Ray as a carrier, as far as it needs no Ray: what is refused before it is asked, and that it is not imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

from webdyno.model.errors import MachineError, UsageError
from webdyno.model.place import Cluster
from webdyno.rig.by_ray import attached, refuse_public, versions_in


@pytest.mark.parametrize("address", ["8.8.8.8", "2a00:1450:4001::1"])
def test_a_public_address_is_refused_unless_it_is_allowed(address: str) -> None:
    with pytest.raises(UsageError, match="--allow-public"):
        refuse_public(address, allow=False)
    refuse_public(address, allow=True)


@pytest.mark.parametrize("address", ["10.0.0.1", "192.168.1.2", "127.0.0.1", "fd00::1"])
def test_a_private_one_is_not(address: str) -> None:
    refuse_public(address, allow=False)


def test_without_ray_the_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"webdyno\[far\]"), attached(Cluster(address="auto")):
        pass


def test_ray_is_never_imported_unless_it_is_asked_for() -> None:
    code = (
        "import sys, webdyno.session.far, webdyno.session.agent, webdyno.commands.run, webdyno.commands.doctor\n"
        "sys.exit('ray' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_a_cluster_says_of_itself_is_read_and_anything_else_is_one_sentence() -> None:
    assert versions_in('{"ray_version":"2.60.0","python_version":"3.12.3"}', "h:1") == "Ray 2.60.0 and Python 3.12.3"
    for said in ("<html>", "[]", "[" * 5000, '{"ray_version": 2}', '{"ray_version":"2\\n3","python_version":"3"}'):
        with pytest.raises(MachineError, match="what answers at h:1 says no versions"):
            versions_in(said, "h:1")
