"""Which servers fit, and which settings are tried."""

from __future__ import annotations

from pathlib import Path

import pytest

from webdyno.build.own import constraints_of
from webdyno.commands.options import catalogue_of
from webdyno.model.errors import UsageError
from webdyno.read import default_folder
from webdyno.session.tryout.fitting import base_setting, fitting, settings_of, wider_than
from webdyno.session.tryout.project import Project, Said
from webdyno.session.tryout.servers import other_versions

KNOWN = catalogue_of(None)


def project(target: str = "shop:app", **packages: str) -> Project:
    said = Said(version=[3, 11, 7], implementation="cpython", base="/usr/bin/python3", folders=[], packages=packages)
    return Project(
        folder=Path("/srv/shop"),
        python=Path("/srv/shop/.venv/bin/python"),
        how="",
        variables={},
        target=target,
        interface="wsgi",
        said=said,
    )


@pytest.mark.parametrize(
    ("interface", "there", "not_there"),
    [
        (
            "wsgi",
            {"waitress", "granian-wsgi", "gunicorn-sync", "wsgiref"},
            {"uvicorn", "flask-gunicorn-sync", "waitress-db"},
        ),
        ("asgi", {"uvicorn", "uvicorn-pure", "granian-asgi", "hypercorn", "daphne"}, {"waitress", "fastapi-uvicorn"}),
        ("rsgi", {"granian-rsgi"}, {"granian-asgi"}),
    ],
)
def test_servers_of_the_bare_interface_fit(interface: str, there: set[str], not_there: set[str]) -> None:
    names = {contender.name for contender in fitting(KNOWN, interface, None)}
    assert there <= names
    assert not names & not_there
    assert "mod-wsgi-express" not in names
    assert not [name for name in names if "-as-2" in name], "nobody takes the settings of an article"


def test_a_server_is_named_by_itself_or_by_a_contender() -> None:
    names = [contender.name for contender in fitting(KNOWN, "wsgi", ["granian", "gunicorn-sync"])]
    assert names == ["granian-wsgi", "gunicorn-sync"]
    with pytest.raises(
        UsageError, match="--server gunicron: no server of that name serves WSGI; did you mean 'gunicorn'"
    ):
        fitting(KNOWN, "wsgi", ["gunicron"])


def test_the_application_and_the_scripts_are_put_in() -> None:
    waitress = base_setting(KNOWN.contenders["waitress"], project(), "/cache/x", 2).contender
    assert waitress.serve[:2] == ["python", "/cache/x/serve_waitress.py"]
    gunicorn = KNOWN.contenders["gunicorn-sync"]
    assert base_setting(gunicorn, project(), "/cache/x", 2).contender.serve[-1] == "shop:app"
    assert base_setting(gunicorn, project("shop:make()"), "/cache/x", 2).contender.serve[-1] == "webdyno_app:app"


def test_every_combination_of_the_sweep_is_a_setting_once() -> None:
    base = base_setting(KNOWN.contenders["gunicorn-gthread"], project(), "", 1)
    assert (base.name, base.workers, base.threads) == ("gunicorn-gthread-3w-4t", 3, 4)
    names = [setting.name for setting in settings_of(base, 1)]
    assert names == [f"gunicorn-gthread-{w}w-{t}t" for w in (1, 3) for t in (2, 4, 16) if (w, t) != (3, 4)]
    daphne = base_setting(KNOWN.contenders["daphne"], project(), "", 4)
    assert (daphne.name, daphne.workers, list(settings_of(daphne, 4))) == ("daphne", None, [])


@pytest.mark.parametrize(
    ("name", "cores", "larger"),
    [
        ("gunicorn-gthread", 1, ["3w-16t", "3w-11t", "1w-16t"]),  # its sweep holds more than a thread for each client
        ("waitress", 1, ["32t", "16t"]),
        ("rocket3", 1, ["32t"]),  # has no sweep
        ("gunicorn-sync", 1, ["8w", "4w"]),
        ("gunicorn-sync", 16, ["128w", "64w"]),
        ("uwsgi-gevent", 1, ["2w-1000t"]),  # greenlets enough
        ("bjoern", 4, []),
    ],
)
def test_who_waits_is_given_a_larger_pool_the_largest_first(name: str, cores: int, larger: list[str]) -> None:
    base = base_setting(KNOWN.contenders[name], project(), "", cores)
    connections = 128 if cores == 16 else 32
    assert [each.name for each in wider_than(base, cores, connections)] == [f"{name}-{marks}" for marks in larger]


def test_every_script_of_the_catalogue_takes_its_app_from_where_it_can_be_put_in() -> None:
    scripts = sorted(
        path
        for name in ("python-wsgi", "python-asgi")
        for path in (default_folder() / "apps" / name).glob("serve_*.py")
    )
    assert scripts
    lacking = [
        path.name for path in scripts if "from app import app\n" not in path.read_text() and "mod_wsgi" not in path.name
    ]
    assert lacking == []


def test_what_is_installed_binds_the_server_but_for_what_it_requires_itself() -> None:
    installed = {"Flask": "3.1.0", "click": "8.1.0", "Gunicorn": "20.0", "zope.interface": "7"}
    assert constraints_of(installed, ["gunicorn[gevent]==27.0.1", "zope_interface==8"]) == [
        "Flask==3.1.0",
        "click==8.1.0",
    ]
    gunicorn = KNOWN.contenders["gunicorn-sync"]
    (told,) = other_versions(gunicorn, project(gunicorn="20.0"))
    assert told.endswith("(your project has 20.0)")
    assert other_versions(gunicorn, project(flask="3")) == []
