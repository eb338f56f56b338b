"""No results file holds what lets somebody in; who made the store still asks with it, and who resumes brings it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec
import pytest

from tests.fakes import catalogue
from tests.test_store import FINGERPRINT, plan, run, trial
from webdyno.model.catalogue import Catalogue
from webdyno.model.contender import Contender
from webdyno.model.errors import UsageError
from webdyno.model.run import Loss, Probe
from webdyno.model.trial import Plan
from webdyno.model.workload import Request, Workload
from webdyno.store import FILE, Store

SECRET = "open-sesame"


def asking(value: str = SECRET, path: str = "/") -> Mapping[str, Workload]:
    """The plan's workload, with a header that lets us in."""
    request = Request(name="r", path=path, headers=[("Accept", "text/html"), ("Authorization", f"Bearer {value}")])
    return {"hello": msgspec.structs.replace(plan().workloads["hello"], requests=[request])}


def secret_plan() -> Plan:
    return msgspec.structs.replace(plan(), workloads=dict(asking()))


def known(
    asked: Mapping[str, Workload] = MappingProxyType({}), served: Mapping[str, Contender] = MappingProxyType({})
) -> Catalogue:
    """A catalogue with these alone."""
    return msgspec.structs.replace(catalogue(), workloads=dict(asked), contenders=dict(served))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Results of that plan, with a Run that holds the secret wherever a Run may, and a plan that grew."""
    probe = run().probe
    assert isinstance(probe, Probe)
    cookie = f"HTTP/1.1 200 OK\r\nSet-Cookie: s={SECRET}\r\n"
    telling = run(
        probe=msgspec.structs.replace(probe, header=cookie),
        summary={"first_answer": cookie, "ended": "duration"},
        driver_command=["wrk", "-H", f"Authorization: Bearer {SECRET}", "http://127.0.0.1:1/"],
        command=["serve", f"redis://me:{SECRET}@host"],
    )
    with Store.create(tmp_path, secret_plan(), FINGERPRINT) as store:
        assert store.plan() == secret_plan()
        store.append(telling)
        store.grow([trial(9)])
        assert store.plan().workloads == asking()
    return tmp_path


def test_nothing_that_lets_somebody_in_is_in_the_file(folder: Path) -> None:
    assert SECRET.encode() not in (folder / FILE).read_bytes()
    with Store.open(folder) as store:
        (request,) = store.plan().workloads["hello"].requests
        (kept,) = store.runs()
    assert request.headers == [("Accept", "text/html"), ("Authorization", "***")]
    assert kept.driver_command == ["wrk", "-H", "Authorization: ***", "http://127.0.0.1:1/"]
    assert kept.summary == {"first_answer": "HTTP/1.1 200 OK\r\nSet-Cookie: ***\r\n", "ended": "duration"}
    assert len(kept.slices) == 3


def test_who_resumes_asks_with_the_secret_of_the_catalogue(folder: Path) -> None:
    with Store.open(folder, writable=True) as store:
        store.recall(known(asking("another, as passwords change")))
        assert store.plan().workloads == asking("another, as passwords change")


@pytest.mark.parametrize("there", [{}, asking(path="/elsewhere")])
def test_without_it_nothing_is_asked_and_one_sentence_says_why(folder: Path, there: Mapping[str, Workload]) -> None:
    with Store.open(folder) as store, pytest.raises(UsageError) as refused:
        store.recall(known(there))
    assert str(refused.value) == (
        f"{folder}: workload 'hello' sends the header Authorization, whose value no results file keeps, and the "
        "catalogue does not have that workload as it was: put its file back, or start over"
    )


def test_a_plan_without_secrets_needs_no_catalogue(tmp_path: Path) -> None:
    with Store.create(tmp_path, plan(), FINGERPRINT) as store:
        store.recall(known())
        assert store.plan() == plan()


def served_by(password: str = SECRET, port: str = "{port}") -> Mapping[str, Contender]:
    """The plan's contenders, of which one is told where its database is."""
    (name, *others), known = plan().contenders, plan().contenders
    words, variables = ["serve", port, f"redis://me:{password}@db/0"], {"CACHE": f"redis://:{password}@db/1"}
    it = msgspec.structs.replace(known[name], serve=words, environment=variables)
    return {name: it, **{other: known[other] for other in others}}


@pytest.fixture
def telling(tmp_path: Path) -> Path:
    """Results of a plan whose contender has a password in its command, grown while it was measured."""
    made = msgspec.structs.replace(plan(), contenders=dict(served_by()))
    with Store.create(tmp_path, made, FINGERPRINT) as store:
        store.grow([trial(9)])
        assert store.plan().contenders == served_by()
    return tmp_path


def test_a_password_of_a_command_is_not_in_the_file_and_comes_back_from_the_catalogue(telling: Path) -> None:
    assert SECRET.encode() not in (telling / FILE).read_bytes()
    with Store.open(telling, writable=True) as store:
        it = next(iter(store.plan().contenders.values()))
        assert (it.serve[2], it.environment) == ("redis://me:***@db/0", {"CACHE": "redis://:***@db/1"})
        store.recall(known(served=served_by("another")))
        assert store.plan().contenders == served_by("another")


@pytest.mark.parametrize("there", [{}, served_by(port="{bind}")])
def test_a_command_without_its_password_is_not_served(telling: Path, there: Mapping[str, Contender]) -> None:
    name = next(iter(served_by()))
    with Store.open(telling) as store, pytest.raises(UsageError) as refused:
        store.recall(known(served=there))
    assert str(refused.value) == (
        f"{telling}: the command of contender {name!r} holds a password, which no results file keeps, and the "
        "catalogue does not have that contender as it was: put its file back, or start over"
    )


def test_a_secret_in_a_path_is_not_in_the_file_and_comes_back_from_the_catalogue_alone(tmp_path: Path) -> None:
    whole = msgspec.structs.replace(plan(), workloads=dict(asking(path=f"/x?token={SECRET}")))
    with Store.create(tmp_path, whole, FINGERPRINT) as store:
        assert store.plan().workloads == whole.workloads
    assert SECRET.encode() not in (tmp_path / FILE).read_bytes()
    with Store.open(tmp_path) as store:
        assert store.plan().workloads["hello"].requests[0].path == "/x?token=***"
        with pytest.raises(UsageError, match="put its file back, or start over"):
            store.recall(store.plan())  # what is stars is never asked
        store.recall(known(whole.workloads))
        assert store.plan().workloads == whole.workloads


def test_a_secret_variable_or_message_is_not_in_the_file(tmp_path: Path) -> None:
    name = next(iter(plan().contenders))
    it = msgspec.structs.replace(plan().contenders[name], environment={"API_TOKEN": SECRET, "A": "b"})
    whole = msgspec.structs.replace(
        plan(), contenders={**plan().contenders, name: it}, question=f"How fast is http://a.test/?token={SECRET}?"
    )
    one = run(
        environment={"API_TOKEN": SECRET, "A": "b"},
        notes=[f"GET /?sig={SECRET}: odd"],
        log_tail=f"X-Token: {SECRET}",
        losses=[Loss(pid=7, name="go", line=f"X-Token: {SECRET}")],
    )
    with Store.create(tmp_path, whole, FINGERPRINT) as store:
        store.append(one)
    assert SECRET.encode() not in (tmp_path / FILE).read_bytes()
    with Store.open(tmp_path) as store:
        (kept,) = store.runs()
        assert kept.environment == {"API_TOKEN": "***", "A": "b"}
        assert store.plan().contenders[name].environment == {"API_TOKEN": "***", "A": "b"}
