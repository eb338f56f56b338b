"""What is said about a service, a pool or a pattern that cannot be meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.read.conftest import FILES
from webdyno.model.errors import CatalogueError
from webdyno.read import read_catalogue

SERVICE = """\
title = "A store"
protocol = "redis"
variable = "STORE_URL"
url = "redis://{host}:{port}/0"
genuine = "store"
install = "apt install store"
[[ways]]
kind = "url"
[[ways]]
kind = "program"
find = ["store"]
serve = ["{program}", "--port", "{port}"]
[[ways]]
kind = "embedded"
server = "small-store"
runtime = "py"
requires = ["small-store==1.0"]
serve = ["small-store", "{host}", "{port}"]
"""
CONTENDER, WORKLOAD = FILES["contenders/fast.toml"], FILES["workloads/plain.toml"]
ROWS: list[tuple[str, str, str]] = [
    ('protocol = "redis"', 'protocol = "reddis"', ':2: protocol: "reddis" is not a choice; did you mean "redis"?'),
    ('title = "A store"\n', "", ": title: is missing, and needed"),
    ('genuine = "store"', 'genuine = " "', ":5: genuine: must not be empty"),
    ('kind = "url"', 'kind = "url"\nwarm_s = 1', ":9: ways[0].warm_s: means nothing to a way of kind url; remove it"),
    ('find = ["store"]', 'find = ["store"]\nwarm_s = -1', ":12: ways[1].warm_s: must be 0 or more, but is -1.0"),
    ("{port}/0", "6379/0", ":4: url: never says {port}, so no contender could be given its address"),
    ("{host}", "{hots}", ':4: url: {hots} is no placeholder here; did you mean "host"?'),
    ('kind = "url"', 'kind = "uri"', ':8: ways[0].kind: "uri" is not a choice; did you mean "url"?'),
    ('kind = "url"', 'kind = "url"\nfind = ["x"]',
     ":9: ways[0].find: means nothing to a way of kind url; remove it"),
    ('find = ["store"]\n', "", ":9: ways[1].find: is missing, and a way of kind program needs it"),
    ('"--port", "{port}"', '"--port"', ":12: ways[1].serve: never says {port}, so it would not know where to listen"),
    ('"--port", "{port}"', '"{port}", "{cores}"',
     ":12: ways[1].serve[2]: {cores} is no placeholder here; known: folder, host, port, program"),
    ('runtime = "py"', 'runtime = "jvm"', ':16: ways[2].runtime: there is no runtime "jvm"; known: py'),
    ("small-store==1.0", "small-store",
     ':17: ways[2].requires[0]: "small-store" is not one exact version; write it like "gunicorn==27.0.1"'),
    ('server = "small-store"\n', "", ":13: ways[2].server: is missing, and a way of kind embedded needs it"),
    ('install = "apt install store"', 'install = "x"\nmost_cores = 0', ":7: most_cores: must be 1 or more, but is 0"),
    ('install = "apt install store"', 'install = "x"\nready_s = 0', ":7: ready_s: must be more than 0, but is 0.0"),
]  # fmt: skip


@pytest.fixture
def service(folder: Path) -> Path:
    (folder / "services").mkdir()
    file = folder / "services" / "store.toml"
    file.write_text(SERVICE)
    return file


def complaint(folder: Path) -> str:
    with pytest.raises(CatalogueError) as caught:
        read_catalogue([folder])
    return str(caught.value).removeprefix(f"{folder}/")


@pytest.mark.parametrize(("right", "wrong", "said"), ROWS, ids=[row[2] for row in ROWS])
def test_a_wrong_service_gets_one_sentence(folder: Path, service: Path, right: str, wrong: str, said: str) -> None:
    assert right in SERVICE
    service.write_text(SERVICE.replace(right, wrong, 1))
    assert complaint(folder) == f"services/store.toml{said}"


def test_a_right_service_is_read_with_the_folder_of_its_sources(folder: Path, service: Path) -> None:
    assert read_catalogue([folder]).service_directories == {}
    service.with_suffix("").mkdir()
    known = read_catalogue([folder])
    assert [way.kind for way in known.services["store"].ways] == ["url", "program", "embedded"]
    assert known.service_directories == {"store": service.with_suffix("").resolve()}


def test_a_workload_names_a_service_that_exists(folder: Path, service: Path) -> None:
    text = WORKLOAD.replace('kind = "cpu"', 'kind = "db"\nservice = "stor"')
    (folder / "workloads/plain.toml").write_text(text)
    assert complaint(folder) == ('workloads/plain.toml:3: service: there is no service "stor"; did you mean "store"?')
    (folder / "workloads/plain.toml").write_text(text.replace("stor", "store"))
    assert read_catalogue([folder]).workloads["plain"].service == "store"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('pool = "6000 // worker"', ":8: pool: 'worker' cannot stand in a rule; whole numbers, cores, workers, "
         "+ - * //, min() and max() can"),
        ('pool = "6000 / workers"', ":8: pool: '6000 / workers' cannot stand in a rule; whole numbers, cores, workers, "
         "+ - * //, min() and max() can"),
        ("pool = 0", ":8: pool: must be 1 or more, but is 0"),
        ('environment.P = "{pool}"',
         ":8: environment.P: says {pool}, but the contender has no pool; give it the key pool"),
        ('workers = "workers"', ":8: workers: 'workers' cannot stand in a rule; whole numbers, cores, + - * //, "
         "min() and max() can"),
    ],
)  # fmt: skip
def test_a_pool_is_a_rule_over_cores_and_workers(folder: Path, line: str, said: str) -> None:
    (folder / "contenders/fast.toml").write_text(f"{CONTENDER}{line}\n")
    assert complaint(folder) == f"contenders/fast.toml{said}"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("expect.body_matches = '['", ":6: requests[0].expect.body_matches: is not a regular expression: unterminated "
         "character set at position 0"),
        ("expect.body = 'ab'\nexpect.body_matches = 'a'",
         ":7: requests[0].expect.body_matches: contradicts body, which does not match it"),
        ("method = 'HEAD'\nexpect.body_matches = 'a'",
         ":7: requests[0].expect.body_matches: contradicts method HEAD, whose answers have no body"),
    ],
)  # fmt: skip
def test_a_pattern_is_a_regular_expression(folder: Path, lines: str, said: str) -> None:
    (folder / "workloads/plain.toml").write_text(f"{WORKLOAD}{lines}\n")
    assert complaint(folder) == f"workloads/plain.toml{said}"
