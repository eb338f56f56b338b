"""What a project's own Python says of an application: run as it is run there, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from webdyno.session.tryout import inspect_app

pytestmark = pytest.mark.slow

MODULES = {
    "apps": """
def wsgi(environ, start_response): ...
async def asgi(scope, receive, send): ...
class Wsgi:
    def __call__(self, environ, start_response): ...
class Asgi:
    async def __call__(self, scope, receive, send): ...
class Rsgi:
    def __rsgi__(self, scope, protocol): ...
class OldWsgi:
    def __init__(self, environ, start_response): ...
one, two, three = Wsgi(), Asgi(), Rsgi()
def create_app(): return Asgi()
def create_nothing(): return 3
def make(name, debug=False): return Wsgi()
number = 3
""",
    "broken": "print('noise')\ndef load():\n    raise ValueError('no such setting: DATABASE_URL')\nload()\n",
    "needs": "import not_installed_anywhere\n",
    "leaves": "raise SystemExit(4)\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, source in MODULES.items():
        (tmp_path / f"{name}.py").write_text(source)
    return tmp_path


def said(project: Path, spec: str) -> dict[str, Any]:
    target = project / "said.json"
    environment = {"PYTHONPATH": str(project), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run(
        [sys.executable, inspect_app.__file__, spec, str(target)], check=True, capture_output=True, env=environment
    )
    return dict(json.loads(target.read_text()))


@pytest.mark.parametrize(
    ("spec", "interface", "expression"),
    [
        ("apps:wsgi", "wsgi", "wsgi"),
        ("apps:asgi", "asgi", "asgi"),
        ("apps:one", "wsgi", "one"),
        ("apps:two", "asgi", "two"),
        ("apps:three", "rsgi", "three"),
        ("apps:OldWsgi", "wsgi", "OldWsgi"),
        ("apps:create_app", "asgi", "create_app()"),
        ("apps:create_app()", "asgi", "create_app()"),
        ("apps:make('x', debug=True)", "wsgi", "make('x', debug=True)"),
    ],
)
def test_the_interface_is_found(project: Path, spec: str, interface: str, expression: str) -> None:
    found = said(project, spec)
    assert (found["interface"], found["expression"]) == (interface, expression)
    assert found["version"] == list(sys.version_info[:3])
    assert "pytest" in found["packages"]


@pytest.mark.parametrize(
    ("spec", "problem", "sentence"),
    [
        ("nowhere:app", "no-module", "there is no module 'nowhere'"),
        ("apps.sub:app", "no-module", "there is no module 'apps.sub'"),
        ("apps:wsgj", "no-attribute", "module 'apps' has no attribute 'wsgj'; did you mean 'wsgi'?"),
        ("apps:application", "no-attribute", "module 'apps' has no attribute 'application'; did you mean"),
        ("apps:number", "no-interface", "number is of type int"),
        ("apps:create_nothing", "no-interface", "create_nothing is of type function"),
        ("broken:app", "import-error", "ValueError: no such setting: DATABASE_URL"),
        ("needs:app", "import-error", "ModuleNotFoundError: No module named 'not_installed_anywhere'"),
        ("leaves:app", "import-error", "SystemExit: 4"),
    ],
)
def test_what_is_wrong_is_said(project: Path, spec: str, problem: str, sentence: str) -> None:
    found = said(project, spec)
    assert found["problem"] == problem
    assert found["sentence"].startswith(sentence)


def test_the_traceback_is_the_users_own(project: Path) -> None:
    lines = said(project, "broken:app")["traceback"].splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert [Path(line.split('"')[1]).name for line in lines if line.startswith("  File")] == ["broken.py", "broken.py"]
    assert lines[-1] == "ValueError: no such setting: DATABASE_URL"


@pytest.mark.parametrize("name", ["project", "bench", "flags"])
def test_a_module_with_the_name_of_one_of_ours_is_the_users(project: Path, name: str) -> None:
    (project / f"{name}.py").write_text("def application(environ, start_response): ...\n")
    assert said(project, f"{name}:application")["interface"] == "wsgi"


def test_the_standard_librarys_profile_is_found(project: Path) -> None:
    (project / "measured.py").write_text("import cProfile\ndef app(environ, start_response): cProfile.Profile\n")
    assert said(project, "measured:app")["interface"] == "wsgi"
