"""Which way to a service is taken, and the one line that is said when there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import shipped
from webdyno.model.built import Found
from webdyno.model.errors import UsageError
from webdyno.model.service import FoundService, without_password
from webdyno.service import find_service

SERVICES = shipped.catalogue().services
JAVA = Found(runtime="jvm", program="/usr/bin/java", version="openjdk 17")


def java(_: str) -> Found | str:
    return JAVA


def no_java(_: str) -> Found | str:
    return "Java was not found (looked for java); to get it: apt install java"


@pytest.fixture
def programs(tmp_path: Path) -> str:
    """A PATH with a redis-server and a mongod on it."""
    for name in ("redis-server", "mongod"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    return str(tmp_path)


def kind(name: str, environment: dict[str, str]) -> str:
    found = find_service(SERVICES[name], environment, java)
    assert isinstance(found, FoundService)
    return found.way.kind


def test_the_ways_are_tried_in_the_order_of_the_file(programs: str) -> None:
    url = {"MONGODB_URL": "mongodb://db.example/"}
    assert kind("mongo", {"PATH": programs, **url}) == "url"
    assert kind("mongo", {"PATH": programs}) == "program"
    assert kind("mongo", {"PATH": "/nowhere"}) == "embedded"
    assert kind("redis", {"PATH": programs}) == "program"


def test_a_missing_service_is_one_line_that_says_how_to_get_it() -> None:
    said = find_service(SERVICES["redis"], {"PATH": "/nowhere"}, java)
    assert said == (
        "Redis was not found (REDIS_URL is not set; no redis-server or valkey-server on PATH); "
        "to get it: apt install redis-server (or set REDIS_URL to one that runs)"
    )
    said = find_service(SERVICES["mongo"], {"PATH": "/nowhere"}, no_java)
    assert isinstance(said, str)
    assert "no mongod on PATH; for mongo-java-server: Java was not found (looked for java)); to get it: https" in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("name", "url", "said"),
    [
        ("redis", "localhost:6379", "REDIS_URL in the environment must look like redis://localhost:6379/0"),
        (
            "redis",
            "redis://localhost/orders",
            "REDIS_URL in the environment names the database 'orders', and Redis only",
        ),
        (
            "redis",
            "redis://localhost:many",
            "REDIS_URL in the environment has an invalid port: redis://localhost:63",
        ),
        ("mongo", "http://localhost", "MONGODB_URL in the environment must look like mongodb://localhost:27017/"),
    ],
)
def test_a_url_that_cannot_be_one_is_refused_and_never_passed_over(name: str, url: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_service(SERVICES[name], {SERVICES[name].variable: url, "PATH": "/usr/bin"}, java)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://:secret@db:6379/0", "redis://:***@db:6379/0"),
        ("mongodb://me:s:e/c@a,b/?x=1", "mongodb://me:***@a,b/?x=1"),
        ("mongodb+srv://me:secret@a.example/", "mongodb+srv://me:***@a.example/"),
        ("redis://db/0", "redis://db/0"),
        ("/usr/bin:/bin", "/usr/bin:/bin"),
    ],
)
def test_a_password_is_not_shown(url: str, shown: str) -> None:
    assert without_password(url) == shown
