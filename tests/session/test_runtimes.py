"""Which contenders a machine cannot serve, and what is handed on of those it can."""

from __future__ import annotations

import msgspec
import pytest

from tests.build.fake_host import FakeHost
from tests.fakes import catalogue
from webdyno.model.catalogue import Catalogue
from webdyno.model.contender import Runtime
from webdyno.session.lookup import look_for_runtimes


@pytest.fixture
def known() -> Catalogue:
    """Contender "plain" needs only node, "proxied" nginx besides."""
    runtimes = {
        name: Runtime(name=name, kind="node", language=name, find=[name], version=["-v"], install=f"apt install {name}")
        for name in ("node", "nginx")
    }
    both = catalogue("plain", "proxied", runtime="node")
    proxied = msgspec.structs.replace(both.contenders["proxied"], beside=["nginx"])
    return msgspec.structs.replace(both, runtimes=runtimes, contenders={**both.contenders, "proxied": proxied})


def look(known: Catalogue, monkeypatch: pytest.MonkeyPatch, *there: str) -> tuple[list[str], dict[str, str]]:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}" if name in there else None)
    found, missing = look_for_runtimes(known, ["plain", "proxied"], FakeHost(lambda _: "1.2.3\n"), fetch=False)
    return sorted(found), missing


def test_a_contender_is_left_out_where_what_it_is_served_with_is_missing(
    known: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, missing = look(known, monkeypatch, "node")
    assert found == ["node"]
    assert missing == {"proxied": "nginx was not found (looked for nginx); to get it: apt install nginx"}


def test_one_line_is_enough_for_a_contender_that_lacks_all(known: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    reason = "node was not found (looked for node); to get it: apt install node"
    assert look(known, monkeypatch, "nginx") == (["nginx"], {"plain": reason, "proxied": reason})


def test_everything_that_is_there_is_found(known: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    assert look(known, monkeypatch, "node", "nginx") == (["nginx", "node"], {})
