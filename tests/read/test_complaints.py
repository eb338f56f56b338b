"""Every way to write a wrong file, and the one sentence it gets."""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

import pytest

from tests.read.conftest import FILES
from webdyno.model.errors import CatalogueError
from webdyno.read import read_catalogue

RUNTIME, WORKLOAD, APP = "runtimes/py.toml", "workloads/plain.toml", "apps/small/app.toml"
CONTENDER, STUDY = "contenders/fast.toml", "studies/short.toml"
OTHER_SHA = hashlib.sha256(b"other").hexdigest()

Row = tuple[str, str, str, str]
"""File, a line of it, what stands there instead, and the complaint after the path."""

TOML: list[Row] = [
    (CONTENDER, 'app = "small"', 'app = "small', ":1: is not valid TOML: illegal character '\\n'"),
    (CONTENDER, 'model = "threads"', "model =", ":4: is not valid TOML: invalid value"),
    (CONTENDER, 'author = "tests"', 'app = "small"', ":7: is not valid TOML: cannot overwrite a value"),
    (CONTENDER, 'author = "tests"\n', "author = [", ":7: is not valid TOML: invalid value"),
]
KEYS: list[Row] = [
    (CONTENDER, 'model = "threads"', 'modle = "threads"', ':4: modle: unknown key; did you mean "model"?'),
    (APP, "framework", "zzz", ":3: zzz: unknown key; known: answers, build, framework, interface, language, requires"),
    (STUDY, "duration_s = 1", "durations = 1", ':7: loads[0].durations: unknown key; did you mean "duration_s"?'),
    (WORKLOAD, 'path = "/"', 'path = "/"\nexpect.body_lenght = 3',
     ':6: requests[0].expect.body_lenght: unknown key; did you mean "body_length"?'),
    (CONTENDER, 'because = "tests"\n', "", ": because: is missing, and needed"),
    (STUDY, "connections = [4]\n", "", ":5: loads[0].connections: is missing, and needed"),
    (CONTENDER, 'author = "tests"', 'author = "tests"\nname = "quick"',
     ':8: name: is not wanted; the name is "fast", after the file, so remove this line'),
]  # fmt: skip
TYPES: list[Row] = [
    (CONTENDER, 'serve = ["fast", "--bind", "{bind}"]', 'serve = "fast"', ":5: serve: must be a list, but is text"),
    (CONTENDER, 'serve = ["fast", "--bind", "{bind}"]', 'serve = ["fast", "{bind}",\n\n80]',
     ":7: serve[2]: must be text, but is a whole number"),
    (CONTENDER, 'author = "tests"', 'author = "tests"\nworkers = 1.5',
     ":8: workers: must be a whole number or text, but is a number"),
    (CONTENDER, 'author = "tests"', 'author = "tests"\nthreads = true',
     ":8: threads: must be a whole number or text, but is true or false"),
    (CONTENDER, 'author = "tests"', 'author = "tests"\nanswers = "plain"', ":8: answers: must be a list, but is text"),
    (CONTENDER, 'author = "tests"', 'author = "tests"\n[environment]\nGOOD = "1"\nBAD = 1',
     ":10: environment.BAD: must be text, but is a whole number"),
    (CONTENDER, 'author = "tests"', 'author = "tests"\n[sweep]\nworkers = [1]\nthreads = [1, 2.5]',
     ":10: sweep.threads[1]: must be a whole number or text, but is a number"),
    (CONTENDER, 'author = "tests"', "author = 2020-01-01", ":7: author: must be text, but is date"),
    (WORKLOAD, 'path = "/"', 'path = "/"\nheaders = [["Accept"]]',
     ":6: requests[0].headers[0]: must be a list of 2, but has 1"),
    (WORKLOAD, '[[requests]]\nname = "plain"\npath = "/"', "requests = [1]",
     ":3: requests[0]: must be a table, but is a whole number"),
]  # fmt: skip
CHOICES: list[Row] = [
    (RUNTIME, '"python"', '"pyton"', ':1: kind: "pyton" is not a choice; did you mean "python"?'),
    (RUNTIME, '"python"', '"erlang"',
     ':1: kind: "erlang" is not a choice; known: go, jvm, native, node, python, python-2, ruby, rust'),
    (STUDY, "[[loads]]", 'estimate = "men"\n[[loads]]', ':5: estimate: "men" is not a choice; did you mean "mean"?'),
    (STUDY, "duration_s = 1", 'duration_s = 1\nhttp = "3"', ':8: loads[0].http: "3" is not a choice; known: 1.0, 1.1'),
]  # fmt: skip
REFERENCES: list[Row] = [
    (CONTENDER, '"small"', '"smal"', ':1: app: there is no app "smal"; did you mean "small"?'),
    (CONTENDER, '"py"', '"erlang"', ':2: runtime: there is no runtime "erlang"; known: py'),
    (CONTENDER, 'author = "tests"', 'author = "tests"\nbeside = ["nginx"]',
     ':8: beside[0]: there is no runtime "nginx"; known: py'),
    (CONTENDER, 'author = "tests"', 'author = "tests"\nbeside = ["py", "py"]', ':8: beside[1]: "py" is named twice'),
    (APP, '["plain"]', '[\n"plain",\n"plan"]', ':6: answers[1]: there is no workload "plan"; did you mean "plain"?'),
    (STUDY, '["fast"]', '["fast", "fats"]', ':3: contenders[1]: there is no contender "fats"; did you mean "fast"?'),
    (STUDY, '["plain"]', '["plane"]', ':4: workloads[0]: there is no workload "plane"; did you mean "plain"?'),
    (STUDY, '["fast"]', '["fast", "fast"]', ':3: contenders[1]: "fast" is named twice'),
    (CONTENDER, 'author = "tests"', 'author = "tests"\nanswers = ["other"]',
     ':8: answers[0]: app "small" does not answer "other"; known: plain'),
]  # fmt: skip
SERVING: list[Row] = [
    (CONTENDER, "{bind}", "{bund}", ':5: serve[2]: {bund} is no placeholder; did you mean "bind"?'),
    (CONTENDER, 'author = "tests"', 'author = "tests"\n[environment]\nN = "{cpus}"',
     ":9: environment.N: {cpus} is no placeholder; known: bind, cores, host, pool, port, threads, workers"),
    (CONTENDER, "{bind}", "8000",
     ":5: serve: never says {bind} or {port}, so the contender would not know where to listen"),
    (CONTENDER, "{bind}", "{host}",
     ":5: serve: never says {bind} or {port}, so the contender would not know where to listen"),
    (CONTENDER, '["fast", "--bind", "{bind}"]', "[]", ":5: serve: must begin with a program"),
    (CONTENDER, 'author = "tests"', 'author = "tests"\nworkers = "2 * cpus"',
     ":8: workers: 'cpus' cannot stand in a rule; whole numbers, cores, + - * //, min() and max() can"),
    (CONTENDER, 'author = "tests"', 'author = "tests"\nworkers = "4 // (cores - 1)"',
     ":8: workers: '4 // (cores - 1)' divides by zero when cores = 1"),
    (CONTENDER, 'author = "tests"', 'author = "tests"\nthreads = 0', ":8: threads: must be 1 or more, but is 0"),
    (CONTENDER, 'author = "tests"', 'author = "tests"\nready_s = 0', ":8: ready_s: must be more than 0, but is 0.0"),
    (CONTENDER, 'author = "tests"', 'author = "tests"\nwarmup_s = 0', ":8: warmup_s: must be more than 0, but is 0.0"),
    (CONTENDER, 'author = "tests"', 'author = "tests"\nwarmup_s = 1\nwarmup_requests = 0',
     ":9: warmup_requests: must be 1 or more, but is 0"),
    (CONTENDER, 'author = "tests"', 'author = "tests"\nwarmup_requests = 9',
     ":8: warmup_requests: needs warmup_s beside it: a warm-up takes three times as long at most"),
    (CONTENDER, 'author = "tests"', 'author = "tests"\nstop_s = -1', ":8: stop_s: must be 0 or more, but is -1.0"),
    (CONTENDER, 'author = "tests"', 'author = "tests"\nstop_s = inf', ":8: stop_s: must be 0 or more, but is inf"),
    (CONTENDER, 'author = "tests"', 'author = " "', ":7: author: must not be empty"),
    (CONTENDER, 'author = "tests"', 'author = "tests"\nrecommended = "the manual"',
     ":8: recommended: must be a link that begins with https://"),
    (CONTENDER, 'author = "tests"', 'author = "tests"\n[sweep]\nbacklog = [1]',
     ":9: sweep.backlog: cannot be varied; known: threads, workers"),
    (CONTENDER, 'author = "tests"', 'author = "tests"\n[sweep]\nworkers = [1, "2 x"]',
     ":9: sweep.workers[1]: '2 x' is not a rule; write a whole number or arithmetic over cores"),
    (CONTENDER, 'author = "tests"', 'author = "tests"\n[sweep]\nworkers = []',
     ":9: sweep.workers: must hold at least one value"),
]  # fmt: skip
PINS: list[Row] = [
    (CONTENDER, 'author = "tests"', f'author = "tests"\nrequires = ["a==1.0", "{loose}"]',
     f':8: requires[1]: "{loose}" is not one exact version; write it like "gunicorn==27.0.1"')
    for loose in ("b", "b>=2", "b==2.*", "b ==2", "b==", "b==1,<2", "b @ https://x/y.whl", "b==1; python_version>'3'")
]  # fmt: skip
APART: list[Row] = [
    (CONTENDER, 'author = "tests"', 'author = "tests"\noverrides = ["a>=1"]',
     ':8: overrides[0]: "a>=1" is not one exact version; write it like "gunicorn==27.0.1"'),
    (CONTENDER, 'author = "tests"', 'author = "tests"\nbuild_with = ["setuptools"]',
     ':8: build_with[0]: "setuptools" is not one exact version; write it like "gunicorn==27.0.1"'),
    (CONTENDER, 'author = "tests"', 'author = "tests"\nneeds = ""', ":8: needs: must not be empty"),
    (CONTENDER, 'author = "tests"', 'author = "tests"\nlooks_for = ["cc"]',
     ":8: looks_for: has no needs beside it; say there what to install, in one line for a person"),
]  # fmt: skip
WORKLOADS: list[Row] = [
    (WORKLOAD, '[[requests]]\nname = "plain"\npath = "/"', "requests = []",
     ":3: requests: must hold at least one request"),
    (WORKLOAD, '"/"', '"x"', ':5: requests[0].path: "x" must begin with a slash'),
    (WORKLOAD, '"/"', '"/"\nmethod = "get"',
     ':6: requests[0].method: "get" is not a method; write it in capitals, such as "GET"'),
    (WORKLOAD, '"/"', '"/"\nweight = 0', ":6: requests[0].weight: must be 1 or more, but is 0"),
    (WORKLOAD, '"/"', '"/"\n[[requests]]\nname = "plain"\npath = "/2"', ':6: requests[1]: "plain" is named twice'),
    (WORKLOAD, '"cpu"', '"cpu"\nservice_floor_ms = -1', ":3: service_floor_ms: must be 0 or more, but is -1.0"),
]  # fmt: skip
EXPECTATIONS: list[Row] = [
    (WORKLOAD, '"/"', f'"/"\n[requests.expect]\n{more}', f":7: requests[0].expect.{complaint}")
    for more, complaint in [
        ("statuses = []", "statuses: must hold at least one status"),
        ("statuses = [200, 99]",
         "statuses[1]: 99 is not the status of a final answer (200 to 599)"),
        ('body_sha256 = "abc"',
         "body_sha256: is not a SHA-256; write 64 digits of 0-9 and a-f"),
        ('json_equals = "{"', "json_equals: is not JSON"),
        ('content_type = "text/html; charset=utf-8"',
         'content_type: must be a media type without parameters, such as "text/plain"'),
        ("body_length = -1", "body_length: must be 0 or more, but is -1"),
    ]
]  # fmt: skip
CONTRADICTIONS: list[Row] = [
    (WORKLOAD, '"/"', f'"/"\n{more}', f":{6 + more.count(chr(10))}: requests[0].expect.{complaint}")
    for more, complaint in [
        ('expect.body = "é"\nexpect.body_length = 1', "body_length: contradicts body, which is 2 bytes long"),
        (f'expect.body = "x"\nexpect.body_sha256 = "{OTHER_SHA}"',
         "body_sha256: contradicts body, whose SHA-256 is another"),
        ('expect.body = "x"\nexpect.body_contains = "y"',
         "body_contains: contradicts body, which does not contain it"),
        ('expect.body = "[1]"\nexpect.json_equals = "[2]"',
         "json_equals: contradicts body, which is not equal to it"),
        ('expect.body = "x"\nexpect.body_any_of = ["y", "z"]',
         "body_any_of: contradicts body, which is none of them"),
        ('expect.body_length = 1\nexpect.body_contains = "yy"',
         "body_contains: contradicts body_length: it is longer"),
        ('method = "HEAD"\nexpect.body = "x"', "body: contradicts method HEAD, whose answers have no body"),
        ("expect.statuses = [304]\nexpect.body_length = 3",
         "body_length: contradicts status 304, whose answers have no body"),
    ]
]  # fmt: skip
OTHERS: list[Row] = [
    (RUNTIME, '["3.11"]', "[]", ":3: find: must name at least one program or version"),
    (RUNTIME, "install", 'minimum = "v18"\ninstall',
     ':5: minimum: "v18" is not a version; write numbers and dots, such as "18.0"'),
    (APP, '["plain"]', "[]", ":4: answers: must name at least one workload"),
    (APP, '["plain"]', '["plain"]\nbuild = [[]]', ":5: build[0]: must begin with a program"),
    (STUDY, '["fast"]', "[]", ":3: contenders: must name at least one contender"),
    (STUDY, "[[loads]]\nconnections = [4]\nduration_s = 1", "loads = []", ":5: loads: must hold at least one load"),
    (
        STUDY,
        "[4]",
        "[4]\nrate_per_s = [0]",
        ":7: loads[0].rate_per_s[0]: must be above 0 and up to 10,000,000, but is 0",
    ),
    (STUDY, "[4]", "[4]\npoisson = true", ":7: loads[0].poisson: needs rate_per_s: without it the load is closed"),
    (
        STUDY,
        "[4]",
        "[4]\nmax_connections = 9",
        ":7: loads[0].max_connections: needs rate_per_s: without it the load is closed",
    ),
    (
        STUDY,
        "[4]",
        "[4]\nrate_per_s = [5]\nmax_connections = 3",
        ":8: loads[0].max_connections: must be at least connections, of which there are 4",
    ),
    (STUDY, "[4]", "[]", ":6: loads[0].connections: must hold at least one number"),
    (STUDY, "[4]", "[4, -4]", ":6: loads[0].connections[1]: must be 1 or more, but is -4"),
    (STUDY, "duration_s = 1", "duration_s = -1", ":7: loads[0].duration_s: must be more than 0, but is -1.0"),
    (STUDY, "duration_s = 1", "count = 0", ":7: loads[0].count: must be 1 or more, but is 0"),
    (STUDY, "duration_s = 1\n", "",
     ":5: loads[0]: exactly one of duration_s and count must be given, and neither is"),
    (STUDY, "duration_s = 1", "duration_s = 1\ncount = 5",
     ":5: loads[0]: exactly one of duration_s and count must be given, and both are"),
    (STUDY, "duration_s = 1", "duration_s = 1\nwarmup_s = -0.5",
     ":8: loads[0].warmup_s: must be 0 or more, but is -0.5"),
    (STUDY, "duration_s = 1", "duration_s = 1\ndrivers = 5",
     ":8: loads[0].drivers: must be from 1 to 4, because each has its own connection, but is 5"),
    (STUDY, "duration_s = 1", 'duration_s = 1\ndrivers = 2\ndriver = "ab"',
     ":8: loads[0].drivers: must be 1 with ab: only our own engine shares a load"),
    (STUDY, "duration_s = 1", "duration_s = 1\nopening_s = 0.6",
     ":8: loads[0].opening_s: must be from 0 to warmup_s, which is 0.5, but is 0.6"),
    (STUDY, "duration_s = 1", "duration_s = 1\nrate_per_s = [5]\nopening_s = 0.1",
     ":9: loads[0].opening_s: goes with a closed load: at a rate, connections are open from the start"),
    (STUDY, "duration_s = 1", "duration_s = 1\ntimeout_s = nan",
     ":8: loads[0].timeout_s: must be more than 0, but is nan"),
    (STUDY, "[[loads]]", "rounds = 0\n[[loads]]", ":5: rounds: must be 1 or more, but is 0"),
    (STUDY, "[[loads]]", "seed = -1\n[[loads]]", ":5: seed: must be 0 or more, but is -1"),
    (STUDY, "[[loads]]", "memory_mb = 0\n[[loads]]", ":5: memory_mb: must be 1 or more, but is 0"),
    (STUDY, "[[loads]]", "cores = 0\n[[loads]]", ":5: cores: must be 1 or more, but is 0"),
]  # fmt: skip

ROWS = [
    *TOML, *KEYS, *TYPES, *CHOICES, *REFERENCES, *SERVING, *PINS, *APART, *WORKLOADS, *EXPECTATIONS, *CONTRADICTIONS,
    *OTHERS,
]  # fmt: skip


@pytest.mark.parametrize(("file", "right", "wrong", "complaint"), ROWS, ids=[row[3] for row in ROWS])
def test_a_wrong_file_gets_one_sentence(folder: Path, file: str, right: str, wrong: str, complaint: str) -> None:
    assert right in FILES[file]
    (folder / file).write_text(FILES[file].replace(right, wrong, 1), encoding="utf-8")
    with pytest.raises(CatalogueError) as caught:
        read_catalogue([folder])
    assert str(caught.value) == f"{folder / file}{complaint}"
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", ["overrides", "build_with"])
def test_what_only_uv_can_do_is_refused_elsewhere(folder: Path, key: str) -> None:
    (folder / RUNTIME).write_text(FILES[RUNTIME].replace('"python"', '"go"'), encoding="utf-8")
    (folder / CONTENDER).write_text(FILES[CONTENDER] + f'\n{key} = ["a==1"]\n', encoding="utf-8")
    with pytest.raises(CatalogueError, match=rf": {key}: is for Python contenders only, and py is of kind go$"):
        read_catalogue([folder])


def test_a_complaint_can_be_taken_apart(folder: Path) -> None:
    (folder / CONTENDER).write_text(FILES[CONTENDER].replace("small", "smal"), encoding="utf-8")
    with pytest.raises(CatalogueError) as caught:
        read_catalogue([folder])
    error = caught.value
    assert (error.path, error.line, error.key) == (folder / CONTENDER, 1, "app")
    assert error.exit_code == 2


def test_a_file_in_another_encoding_is_named_with_its_line(folder: Path) -> None:
    (folder / CONTENDER).write_bytes(FILES[CONTENDER].encode() + "# Grüße\n".encode("latin-1"))
    with pytest.raises(CatalogueError, match=r":8: is not UTF-8 text; save it as UTF-8$"):
        read_catalogue([folder])


@pytest.mark.parametrize("file", FILES)
def test_no_missing_character_ends_in_a_traceback(folder: Path, file: str) -> None:
    text = FILES[file]
    for at in range(len(text)):
        (folder / file).write_text(text[:at] + text[at + 1 :], encoding="utf-8")
        with contextlib.suppress(CatalogueError):  # a file may well stay right without it
            read_catalogue([folder])
