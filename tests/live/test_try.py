"""``webdyno try`` with projects made here: the answer, what goes wrong, and that nothing is written."""

from __future__ import annotations

import hashlib
import http.server
import json
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uv

from tests.live import left_behind
from tests.live.conftest import Call, answer
from webdyno.store import Store

pytestmark = [pytest.mark.live, pytest.mark.timeout(180)]
PYTHON = shlex.quote(sys.executable)

SHOP = """
import os
import greeting  # from the project's own environment
import prices

def app(environ, start_response):
    path = environ["PATH_INFO"]
    if path == "/crash":
        raise RuntimeError("no such luck")
    known = {"/": greeting.TEXT, "/items": prices.LIST, "/secret": os.environ.get("SHOP_SECRET", "none")}
    status = "200 OK" if path in known else "401 Unauthorized" if path == "/admin" else "404 Not Found"
    start_response(status, [("Content-Type", "text/plain")])
    return [known.get(path, "nothing").encode()]

def create_app():
    return app
"""
ASGI = """
async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"hello"})
"""
SERVE = """
import sys
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIServer, make_server
from shop import app

class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True

make_server("127.0.0.1", int(sys.argv[1]), app, Server).serve_forever()
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with an environment of its own, in which one package is installed that nobody else has."""
    folder = tmp_path_factory.mktemp("shop")
    files = {
        "shop.py": SHOP,
        "prices.py": 'LIST = "1 2 3"\n',
        "asgi.py": ASGI,
        "serve.py": SERVE,
        "broken.py": "def setting():\n    raise LookupError('DATABASE_URL is not set')\n\nsetting()\n",
        "shop.env": "SHOP_SECRET='open sesame'\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    subprocess.run([uv.find_uv_bin(), "venv", "-q", "--python", sys.executable, str(folder / ".venv")], check=True)
    (site,) = folder.glob(".venv/lib/python*/site-packages")
    (site / "greeting.py").write_text('TEXT = "welcome"\n')
    return folder


def content(folder: Path) -> dict[str, str]:
    """Every file below a folder by its digest."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_answer_comes_with_a_command_and_nothing_is_written(webdyno: Call, project: Path, tmp_path: Path) -> None:
    before = content(project)
    done = webdyno(
        *("try", "shop:app", "-C", str(project), "-k", "wsgiref", "--path", "3=/items", "--path", "/secret", "-c", "4"),
        *("--env-file", str(project / "shop.env"), "--expect", "status==200", "--budget", "30s", "--json"),
        *("--current", "python serve.py {port}", "--save", str(tmp_path / "out")),
        timeout=170,
    )
    told = answer(done)
    assert content(project) == before
    assert told["interface"] == "wsgi"
    assert told["asked"] == ["GET /items", "GET /secret"]
    assert told["answer"].startswith(("On this machine, for this app: ", "Nothing can be recommended: "))
    assert {standing["contender"] for standing in told["standings"]} == {"wsgiref", "current"}
    assert all(standing["rounds_ok"] >= 3 for standing in told["standings"])
    assert (told["limit"] is None) == (told["take"] is None)
    assert told["limit"] is None or told["limit"]["cpu_per_request_ns"] > 0
    assert "shop:app: WSGI" in done.stderr
    assert "(the project's .venv); 1 server can serve it" in done.stderr
    assert {"results.sqlite", "report.html", "answer.json", "logs"} <= {
        path.name for path in (tmp_path / "out").iterdir()
    }
    kept = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert b"open sesame" not in kept


WRONG = [
    ("nowhere:app", [], 2, "nowhere:app: there is no module 'nowhere' in "),
    ("shop:application", [], 2, "module 'shop' has no attribute 'application'; did you mean 'app'?"),
    ("shop", [], 2, "shop: name the application as module:attribute, such as myapp:app"),
    ("shop:greeting", [], 2, "which is not WSGI, ASGI or RSGI; name its interface with --interface"),
    ("broken:app", [], 1, "broken:app cannot be imported: LookupError: DATABASE_URL is not set"),
    ("shop:app", ["--path", "/crash"], 1, "GET /crash: the app itself answers 500; see its output"),
    ("shop:app", ["--path", "/nothing"], 2, "GET /nothing: the app answers 404; name an existing path with --path"),
    ("shop:app", ["--path", "/admin"], 2, "GET /admin: the app answers 401; send what it requires with -H"),
    ("shop:app", ["--expect", 'body contains "no"'], 1, "GET /: expected a body that contains 'no', got 'welcome'"),
    ("shop:app", ["--budget", "3s"], 2, "--budget 3s: 1 server once each and the last comparison take about "),
    ("shop:app", ["--openapi"], 2, "--openapi: the app has no schema (asked for /openapi.json"),
    (
        "shop:app",
        ["--current", "no-such-program {port}"],
        2,
        "--current 'no-such-program {port}': there is no program 'no-such-program' on PATH, in the project's",
    ),
    ("shop:app", ["--python", "/no/where"], 2, "--python /no/where: there is no Python there; give an interpreter"),
]


@pytest.mark.parametrize(("app", "flags", "code", "sentence"), WRONG, ids=[f"{w[0]}-{i}" for i, w in enumerate(WRONG)])
def test_what_is_wrong_is_one_sentence(
    webdyno: Call, project: Path, app: str, flags: list[str], code: int, sentence: str
) -> None:
    before = content(project)
    done = webdyno("try", app, "-C", str(project), "-k", "wsgiref", *flags)
    lines = [line for line in done.stderr.splitlines() if line.startswith("webdyno: ")]
    assert (done.returncode, len(lines)) == (code, 1), done.stderr
    assert sentence in lines[0]
    assert "webdyno/" not in re.sub(r"\(pid.*", "", done.stderr)
    assert content(project) == before


def test_a_budget_too_short_is_refused_before_anything_is_built(webdyno: Call, project: Path) -> None:
    done = webdyno("try", "shop:app", "-C", str(project), "--budget", "3s")
    assert (done.returncode, "once each and the last comparison take about" in done.stderr) == (2, True), done.stderr
    assert "built" not in done.stderr


def test_the_users_own_traceback_is_shown(webdyno: Call, project: Path) -> None:
    done = webdyno("try", "broken:app", "-C", str(project))
    assert f'  |   File "{project}/broken.py", line 4, in <module>' in done.stderr
    assert "  | LookupError: DATABASE_URL is not set" in done.stderr
    done = webdyno("try", "shop:app", "-C", str(project), "-k", "wsgiref", "--path", "/crash")
    assert "  | RuntimeError: no such luck" in done.stderr


def test_ctrl_c_ends_it_and_leaves_nothing(environment: dict[str, str], project: Path) -> None:
    command = [sys.executable, "-m", "webdyno", "try", "shop:app", "-C", str(project), "-k", "wsgiref"]
    with subprocess.Popen(
        command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as done:
        assert done.stderr is not None
        lines: list[str] = []
        for line in done.stderr:
            lines.append(line)
            if line.startswith("round 1"):
                done.send_signal(signal.SIGINT)
        assert done.wait(30) == 130, lines
    assert lines[-1] == "webdyno: stopped by Ctrl-C\n"
    assert left_behind.ledgers(Path(environment["WEBDYNO_CACHE"])) == []


def test_what_ctrl_c_stopped_goes_on_with_the_runs_that_are_there(
    environment: dict[str, str], webdyno: Call, project: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    command = [sys.executable, "-m", "webdyno", "try", "-C", str(project), "--save", str(kept), "--budget", "12s"]
    asked = [
        "--cmd",
        ".venv/bin/python serve.py {port}",
        "--path",
        "/items",
        "-c",
        "4",
        "--env",
        "SHOP_SECRET=open sesame",
    ]
    with subprocess.Popen(
        [*command, *asked], env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as done:
        assert done.stderr is not None
        lines: list[str] = []
        for line in done.stderr:
            lines.append(line)
            if line.startswith(("round 3", "last comparison")) and "stopped" not in lines:
                lines.append("stopped")
                done.send_signal(signal.SIGINT)
        assert done.wait(30) == 130, lines
    assert lines[-1] == f"to go on: webdyno try --resume {kept} --env SHOP_SECRET=...\n"
    with Store.open(kept / "screening") as store:
        before = [run for run in store.runs() if run.outcome == "ok"]
    assert [run.trial.round for run in before] == [1]
    told = answer(webdyno("try", "--resume", str(kept), "--env", "SHOP_SECRET=open sesame", "--json"))
    assert [standing["contender"] for standing in told["standings"]] == ["cmd"]
    assert told["complete"]
    with Store.open(kept / "screening") as store:
        after = store.runs()
    assert after[:1] == before
    assert len({run.trial.id for run in after}) == len(after)
    assert b"open sesame" not in b"".join(path.read_bytes() for path in kept.rglob("*") if path.is_file())


def test_what_a_killed_one_leaves_is_swept_by_the_next(environment: dict[str, str], project: Path) -> None:
    command = [sys.executable, "-m", "webdyno", "try", "shop:app", "-C", str(project), "-k", "wsgiref"]
    with subprocess.Popen(
        command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as done:
        assert done.stderr is not None
        for line in done.stderr:
            if line.startswith("round 1"):
                done.kill()
    left = list(Path(environment["TMPDIR"]).glob("webdyno-*"))
    assert left
    later = subprocess.run(
        [*command, "--path", "/nowhere"], env=environment, capture_output=True, text=True, check=False
    )
    assert later.returncode == 2
    assert later.stderr.startswith("note: cleaned up after a webdyno that was killed")
    assert [path for path in Path(environment["TMPDIR"]).glob("webdyno-*") if path.is_dir()] == []


PYPROJECT = '[project]\nname = "shop"\nversion = "1"\nrequires-python = ">=3.9"\ndependencies = []\n'


@pytest.mark.parametrize("file", ["requirements.txt", "pyproject.toml", "uv.lock"])
def test_a_project_without_an_environment_gets_one_that_is_not_its_own(
    webdyno: Call, tmp_path: Path, file: str
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "app.py").write_text("def app(environ, start_response): ...\n")
    (folder / file).write_text("# nothing\n")
    if file != "requirements.txt":
        (folder / "pyproject.toml").write_text(PYPROJECT)
    if file == "uv.lock":
        (folder / file).unlink()
        subprocess.run([uv.find_uv_bin(), "lock", "-q", "--offline", "--project", str(folder)], check=True)
    before = content(folder)
    done = webdyno("try", "app:app", "-C", str(folder), "-k", "nobody")
    assert (done.returncode, "no server of that name serves WSGI" in done.stderr) == (2, True), done.stderr
    done = webdyno("try", "nowhere:app", "-C", str(folder))
    assert f"there is no module 'nowhere' in {folder}, nor in " in done.stderr
    assert "/environments/" in done.stderr
    assert content(folder) == before


def test_a_project_that_requires_itself_is_left_as_it_is(webdyno: Call, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "shop.py").write_text("def app(environ, start_response): ...\n")
    (folder / "pyproject.toml").write_text(PYPROJECT)
    (folder / "requirements.txt").write_text("-e .\n")
    before = content(folder)
    done = webdyno("try", "shop:app", "-C", str(folder), "-k", "nobody")
    assert (done.returncode, "no server of that name serves WSGI" in done.stderr) == (2, True), done.stderr
    assert content(folder) == before
    (folder / "src" / "shop.py").write_text("import importlib.metadata\nimportlib.metadata.version('shop')\n")
    done = webdyno("try", "shop:app", "-C", str(folder))
    assert (done.returncode, "PackageNotFoundError" in done.stderr) == (1, True), done.stderr
    assert "requirements.txt; not installed but imported from its folder" in " ".join(done.stderr.split())
    (folder / "pyproject.toml").unlink()
    (folder / "setup.py").write_text("from setuptools import setup\nsetup(name='shop', install_requires=[])\n")
    before = content(folder)
    done = webdyno("try", "shop:app", "-C", str(folder), "-k", "nobody")
    assert (done.returncode, "'-e .' installs a folder of yours" in done.stderr) == (2, True), done.stderr
    assert content(folder) == before


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


def test_a_port_that_is_taken_is_said_by_the_server_itself(webdyno: Call, project: Path, taken: int) -> None:
    done = webdyno("try", "-C", str(project), "--cmd", f"{PYTHON} -m http.server {taken} --bind 127.0.0.1 -d {{port}}")
    assert done.returncode == 1
    assert "Address already in use" in done.stderr
    assert "cmd ended with exit status 1 before it served" in done.stderr


@pytest.mark.parametrize(
    ("routes", "sentence"),
    [
        (["/a", "/gone"], "--budget 3s: 1 server once each"),  # asked and answered: only the time is short
        (["/gone"], "--openapi: none of its GET routes is answered correctly; name paths with --path"),
        (["/b/{id}"], "--openapi: /openapi.json has no GET route without required parameters"),
    ],
)
def test_the_routes_of_the_schema_are_asked(
    webdyno: Call, project: Path, tmp_path: Path, routes: list[str], sentence: str
) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "openapi.json").write_text(json.dumps({"paths": {route: {"get": {}} for route in routes}}))
    command = f"{PYTHON} -m http.server {{port}} --bind {{host}}"
    done = webdyno("try", "-C", str(tmp_path), "--cmd", command, "--openapi", "--budget", "3s")
    assert (done.returncode, sentence in done.stderr) == (2, True), done.stderr


def test_an_asgi_application_is_told_from_a_wsgi_one(webdyno: Call, project: Path) -> None:
    done = webdyno("try", "asgi:app", "-C", str(project), "-k", "waitress")
    assert "asgi:app: ASGI" not in done.stderr
    assert (done.returncode, "--server waitress: no server of that name serves ASGI" in done.stderr) == (2, True)


def test_a_server_that_runs_already_is_only_loaded(webdyno: Call) -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        done = webdyno("try", "--url", url, "--budget", "6s", "-c", "2", "--path", "2=/", "--path", "/?a", "--json")
        server.shutdown()
    told = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert told["asked"] == ["GET /", "GET /?a"]
    assert (told["rounds"], told["connections"]) == (5, 2)
    assert told["rate"]["low"] <= told["rate"]["value"] <= told["rate"]["high"]
    assert 0 < told["p50_ns"] <= told["p99_ns"] <= told["max_ns"]


def test_a_redirect_at_the_url_is_refused_before_it_is_measured(webdyno: Call) -> None:
    class Login(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", "/login")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Login) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        done = webdyno("try", "--url", f"http://127.0.0.1:{server.server_port}", "--path", "/private", "--budget", "6s")
        server.shutdown()
    assert (done.returncode, done.stdout) == (2, "")
    assert "GET /private: answered with 302, a redirect to /login, which looks like a login" in done.stderr


def test_nobody_at_the_url_is_exit_code_1(webdyno: Call, taken: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    done = webdyno("try", "--url", f"http://127.0.0.1:{port}", "--budget", "6s")
    assert done.returncode == 1
    assert "no request was answered correctly" in done.stdout


@pytest.mark.skipif(shutil.which("pypy3") is None, reason="there is no pypy3 here")
@pytest.mark.measures
def test_a_command_on_a_compiler_is_loaded_for_longer_first_and_given_what_that_took(
    webdyno: Call, project: Path, tmp_path: Path
) -> None:
    done = webdyno(
        *("try", "-C", str(project), "--cmd", "pypy3 -m http.server {port} --bind {host} -d .", "--current"),
        *(f"{PYTHON} -m http.server {{port}} --bind {{host}} -d .", "--path", "/prices.py", "--expect"),
        *("status==200", "--budget", "60s", "-c", "4", "--json", "--save", str(tmp_path / "out")),
        timeout=170,
    )
    told = answer(done)
    assert "cmd: PyPy compiles in it while it serves; it" in done.stderr
    assert "current: " not in done.stderr.partition("last comparison")[0]
    assert any(note.startswith("each start of cmd was given ") for note in told["notes"])
    with Store.open(tmp_path / "out") as store:
        runs, plan = store.runs(), store.plan()
    compiled = {run.trial.contender: run.compilers for run in runs}
    assert compiled == {"cmd": ["PyPy"], "current": []}
    assert plan.contenders["current"].warmup_s is None
    given = plan.contenders["cmd"].warmup_s
    assert given is not None
    assert {run.trial.asked.warmup_s for run in runs if run.trial.contender == "cmd"} == {given}
    kinds = {doubt["kind"] for standing in told["standings"] for doubt in standing["doubts"]}
    assert "cold-compiler" not in kinds
