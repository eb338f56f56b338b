"""What all commands share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests import shipped
from webdyno.commands import options
from webdyno.commands.saying import heard
from webdyno.model.catalogue import Catalogue
from webdyno.model.rig import Fingerprint
from webdyno.model.trial import Plan
from webdyno.read import default_folder, read_catalogue
from webdyno.session.trust import remember_plan
from webdyno.store import Store


@pytest.fixture(autouse=True, scope="session")
def read_once() -> Iterator[None]:
    """The catalogue that comes with webdyno is read once."""

    def read(folders: Sequence[Path]) -> Catalogue:
        return shipped.catalogue() if folders == [default_folder()] else read_catalogue(folders)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(options, "read_catalogue", read)
        yield


@pytest.fixture(autouse=True, scope="session")
def lock_of_ours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Commands here start no server, so they need not wait for whoever measures on this machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WEBDYNO_LOCK", str(tmp_path_factory.mktemp("lock")))
        yield


@pytest.fixture
def begun_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results that a test makes are remembered as the user's own, as those of a command are."""
    create = Store.create

    def remembered(folder: Path, plan: Plan, fingerprint: Fingerprint) -> Store:
        remember_plan(plan, folder)
        return create(folder, plan, fingerprint)

    monkeypatch.setattr(Store, "create", remembered)


@pytest.fixture(autouse=True)
def said() -> Iterator[None]:
    """What a session says is on standard error, as when a command is called."""
    with heard():
        yield
