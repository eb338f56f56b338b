"""A matrix: what it becomes, what is left out, and the one sentence a wrong one gets."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from tests.read.conftest import FILES
from webdyno.model.contender import Contender
from webdyno.model.errors import CatalogueError
from webdyno.read import cells, read_catalogue, read_study

MATRIX = """\
title = "Two by two by two"
language = "Python"
answers = ["plain"]
because = "tests"
author = "tests"

[frameworks]
flask = { framework = "Flask", interface = "wsgi", app = "app_flask:app" }
own = { framework = "Own", interface = "own", app = "app_own:app" }

[servers.loop]
server = "Loop"
model = "event loop"
[servers.loop.serve]
wsgi = ["{program}", "loop.py", "{bind}", "{app}"]
own = ["{program}", "loop.py", "{bind}", "{app}", "--own"]

[servers.pool]
server = "Pool"
model = "threads"
threads = 8
[servers.pool.serve]
wsgi = ["pool", "--bind", "{bind}", "--threads", "{threads}", "{app}"]

[runtimes.new]
runtime = "py"
[runtimes.new.requires]
flask = ["flask==3.0"]
own = []
loop = ["loop==2.0"]
pool = ["pool==2.0", "flask==3.0"]

[runtimes.old]
runtime = "py"
program = "python2.7"
ready_s = 60
warmup_s = 3
warmup_requests = 900
[runtimes.old.requires]
flask = ["flask==1.0"]
loop = ["loop==1.0"]

[[exclude]]
frameworks = ["own"]
servers = ["pool"]
reason = "Own is no WSGI"
error = "TypeError: 'Own' object is not callable"

[[exclude]]
runtimes = ["old"]
servers = ["pool"]
reason = "Pool forks"

[[exclude]]
frameworks = ["own"]
runtimes = ["old"]
reason = "Own came later"
"""
STUDY = FILES["studies/short.toml"]


@pytest.fixture
def grid(folder: Path) -> Path:
    (folder / "matrices" / "grid").mkdir(parents=True)
    (folder / "matrices" / "grid.toml").write_text(MATRIX, encoding="utf-8")
    return folder


def test_every_combination_that_is_not_excluded_is_a_contender(grid: Path) -> None:
    known = read_catalogue([grid])
    assert list(known.matrix_of) == ["flask-loop-new", "flask-loop-old", "flask-pool-new", "own-loop-new"]
    assert set(known.contenders) == {"fast", *known.matrix_of}
    every = list(cells(known.matrices["grid"]))
    assert [cell.name for cell in every if cell.excluded] == [
        "flask-pool-old", "own-loop-old", "own-pool-new", "own-pool-old",
    ]  # fmt: skip


def test_the_first_exclusion_that_covers_a_combination_says_why(grid: Path) -> None:
    every = {cell.name: cell.excluded for cell in cells(read_catalogue([grid]).matrices["grid"])}
    assert (why := every["own-pool-old"]) is not None
    assert (why.reason, why.error) == ("Own is no WSGI", "TypeError: 'Own' object is not callable")


def test_a_combination_has_the_values_of_its_three(grid: Path) -> None:
    known = read_catalogue([grid])
    assert known.contenders["flask-loop-old"] == Contender(
        name="flask-loop-old",
        app="grid-flask",
        runtime="py",
        server="Loop",
        model="event loop",
        requires=["flask==1.0", "loop==1.0"],
        serve=["python2.7", "loop.py", "{bind}", "app_flask:app"],
        because="tests",
        author="tests",
        ready_s=60.0,
        warmup_s=3.0,
        warmup_requests=900,
    )
    assert known.contenders["flask-loop-new"].warmup_s is None
    assert known.contenders["own-loop-new"].serve[-1] == "--own"
    assert known.contenders["flask-pool-new"].threads == 8
    assert known.contenders["flask-pool-new"].requires == ["flask==3.0", "pool==2.0"]
    assert known.apps["grid-flask"].framework == "Flask"


def test_a_setting_is_that_of_a_command_that_says_it(grid: Path) -> None:
    matrix = MATRIX.replace('model = "event loop"', 'model = "event loop"\nthreads = 4\nsweep = { threads = [1, 4] }')
    matrix = matrix.replace('"--own"', '"{threads}"')
    (grid / "matrices" / "grid.toml").write_text(matrix, encoding="utf-8")
    own, flask = (read_catalogue([grid]).contenders[name] for name in ("own-loop-new", "flask-loop-new"))
    assert (own.threads, own.sweep) == (4, {"threads": [1, 4]})
    assert (flask.threads, flask.sweep) == (1, {})


def test_its_apps_lie_together_and_a_runtime_has_one_lock(grid: Path) -> None:
    known = read_catalogue([grid])
    assert known.app_directories["grid-flask"] == known.app_directories["grid-own"] == grid / "matrices" / "grid"
    assert known.lock_places["flask-loop-new"] == known.lock_places["own-loop-new"] == grid / "locks" / "grid-new.txt"
    assert known.lock_places["flask-loop-old"] == grid / "locks" / "grid-old.txt"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('"grid/*"', ["flask-loop-new", "flask-loop-old", "flask-pool-new", "own-loop-new"]),
        ('"fast", "*-loop-*"', ["fast", "flask-loop-new", "flask-loop-old", "own-loop-new"]),
        ('"own-loop-new", "grid/*-new"', ["own-loop-new", "flask-loop-new", "flask-pool-new"]),
        ('"f*"', ["fast", "flask-loop-new", "flask-loop-old", "flask-pool-new"]),
    ],
)
def test_a_study_names_many_at_once(grid: Path, written: str, meant: list[str]) -> None:
    (grid / "studies" / "short.toml").write_text(STUDY.replace('"fast"', written))
    known = read_catalogue([grid])
    assert known.studies["short"].contenders == meant
    assert read_study(grid / "studies" / "short.toml", known).contenders == meant


def test_a_pattern_that_matches_nothing_is_a_fault_of_the_study(grid: Path) -> None:
    (grid / "studies" / "short.toml").write_text(STUDY.replace('"fast"', '"fast", "grid/*-older"'))
    with pytest.raises(CatalogueError, match=r'short.toml:3: contenders\[1\]: no contender matches "grid/\*-older"'):
        read_catalogue([grid])


def test_a_study_that_names_what_is_excluded_is_told_why(grid: Path) -> None:
    (grid / "studies" / "short.toml").write_text(STUDY.replace('"fast"', '"own-pool-new"'))
    with pytest.raises(CatalogueError) as caught:
        read_catalogue([grid])
    assert str(caught.value).endswith(
        'short.toml:3: contenders[0]: "own-pool-new" is excluded from the matrix grid: Own is no WSGI'
    )


WRONG = [
    ('title = "Two', 'titel = "Two', ':1: titel: unknown key; did you mean "title"?'),
    ('answers = ["plain"]', 'answers = ["plan"]', ':3: answers[0]: there is no workload "plan"; did you mean "plain"?'),
    ('interface = "own"', 'interface = "rack"',
     ":14: servers.loop.serve.rack: is missing, and frameworks.own speaks rack; write the command, or exclude own on "
     "loop"),
    ('framework = "Own", ', "", ":9: frameworks.own.framework: is missing, and needed"),
    ("own = {", "ow-n = {",
     ':9: frameworks.ow-n: "ow-n" cannot be a part of a name; use a-z, 0-9 and dots, no dashes'),
    ("threads = 8", "threads = 0", ":21: servers.pool.threads: must be 1 or more, but is 0"),
    ('"--threads", "{threads}", ', "",
     ":21: servers.pool.threads: has no effect: none of its commands says {threads}"),
    ("threads = 8", "threads = 8\n[servers.pool.sweep]\nworkers = [1, 2]",
     ":23: servers.pool.sweep.workers: has no effect: none of its commands says {workers}"),
    ("threads = 8", "threads = 8\n[servers.pool.sweep]\nbacklog = [1]",
     ":23: servers.pool.sweep.backlog: cannot be varied; known: threads, workers"),
    ('"pool", "--bind", "{bind}"', '"pool", "--bind", "{bund}"',
     ':23: servers.pool.serve.wsgi[2]: {bund} is no placeholder; did you mean "bind"?'),
    ('[runtimes.new]\nruntime = "py"', '[runtimes.new]\nruntime = "pi"',
     ':26: runtimes.new.runtime: there is no runtime "pi"; known: py'),
    ('loop = ["loop==2.0"]', 'loop = ["loop"]',
     ':30: runtimes.new.requires.loop[0]: "loop" is not one exact version; write it like "gunicorn==27.0.1"'),
    ('loop = ["loop==2.0"]', 'lop = ["loop==2.0"]',
     ':30: runtimes.new.requires.lop: there is no framework or server "lop"; did you mean "loop"?'),
    ("own = []\n", "",
     ":27: runtimes.new.requires.own: is missing; write its exact requirements, [] when it needs none, or exclude own "
     "on loop new"),
    ("ready_s = 60", "ready_s = 0", ":36: runtimes.old.ready_s: must be more than 0, but is 0.0"),
    ("warmup_s = 3", "warmup_s = 0", ":37: runtimes.old.warmup_s: must be more than 0, but is 0.0"),
    ('servers = ["pool"]', 'servers = ["pol"]', ':45: exclude[0].servers[0]: there is no server "pol"; did you mean '
     '"pool"?'),
    ('reason = "Pool forks"', 'reason = " "', ":52: exclude[1].reason: must not be empty"),
    ('runtimes = ["old"]\nservers = ["pool"]\n', "",
     ":49: exclude[1]: names no value of frameworks, servers, runtimes, so it would exclude everything"),
    ('frameworks = ["own"]\nruntimes = ["old"]', 'servers = ["pool"]\nruntimes = ["old"]',
     ":54: exclude[2]: excludes nothing that the entries before it do not exclude; remove it"),
    ('[[exclude]]\nframeworks = ["own"]\nruntimes = ["old"]\nreason = "Own came later"\n', "",
     ":39: runtimes.old.requires.own: is missing; write its exact requirements, [] when it needs none, or exclude own "
     "on loop old"),
]  # fmt: skip


@pytest.mark.parametrize(("right", "wrong", "complaint"), WRONG, ids=[row[2] for row in WRONG])
def test_a_wrong_matrix_gets_one_sentence(grid: Path, right: str, wrong: str, complaint: str) -> None:
    assert right in MATRIX
    (grid / "matrices" / "grid.toml").write_text(MATRIX.replace(right, wrong, 1), encoding="utf-8")
    with pytest.raises(CatalogueError) as caught:
        read_catalogue([grid])
    assert str(caught.value) == f"{grid / 'matrices' / 'grid.toml'}{complaint}"


def test_a_combination_may_not_have_the_name_of_a_contender(grid: Path) -> None:
    (grid / "contenders" / "own-loop-new.toml").write_text(FILES["contenders/fast.toml"])
    with pytest.raises(CatalogueError, match=r'contender "own-loop-new" is already defined in '):
        read_catalogue([grid])


def test_no_missing_line_ends_in_a_traceback(grid: Path) -> None:
    lines = MATRIX.splitlines(keepends=True)
    for at in range(len(lines)):
        (grid / "matrices" / "grid.toml").write_text("".join(lines[:at] + lines[at + 1 :]), encoding="utf-8")
        with contextlib.suppress(CatalogueError):  # a file may well stay right without it
            read_catalogue([grid])
