"""Commands of the user's: where they listen is put in, and what cannot be is said."""

from __future__ import annotations

import pytest

from webdyno.model.errors import UsageError
from webdyno.session.tryout.command import CURRENT, command_settings, placed, read_line, told_by_port


@pytest.mark.parametrize(
    ("typed", "made"),
    [
        ("gunicorn app:app -w 4", "gunicorn --bind {bind} app:app -w 4"),
        ("gunicorn -b 0.0.0.0:80 app:app", "gunicorn --bind {bind} app:app"),
        ("gunicorn -b0.0.0.0:80 --bind=unix:/x app:app", "gunicorn --bind {bind} app:app"),
        ("uvicorn app:app --port 80 --host ::", "uvicorn --host {host} --port {port} app:app"),
        ("/v/bin/granian --port=1 a:b", "/v/bin/granian --host {host} --port {port} a:b"),
        ("python -m gunicorn app:app", "python -m gunicorn --bind {bind} app:app"),
        ("uv run hypercorn -b :80 a:b", "uv run hypercorn --bind {bind} a:b"),
        ("daphne -p 80 a:b", "daphne -b {host} -p {port} a:b"),
        ("waitress-serve --listen=*:80 a:b", "waitress-serve --listen={bind} a:b"),
        ("flask --app x run --port 80", "flask --app x run --host {host} --port {port}"),
        ("FLASK_APP=shop flask run", "flask run --host {host} --port {port}"),
        ("fastapi run main.py", "fastapi run --host {host} --port {port} main.py"),
        ("python manage.py runserver 0.0.0.0:80 --noreload", "python manage.py runserver {bind} --noreload"),
        ("python manage.py runserver", "python manage.py runserver {bind}"),
        ("python own.py {port}", "python own.py {port}"),
        ("npm start", "npm start"),
        ("PORT={port} node server.js", "node server.js"),
    ],
)
def test_where_known_programs_listen_is_put_in_and_others_are_told_by_port(typed: str, made: str) -> None:
    for flag in ("--cmd", "--current"):
        assert " ".join(placed(read_line(typed, flag)).words) == made


def test_variables_before_the_program_are_its_own_and_port_is_always_among_them() -> None:
    (one,) = command_settings("A='b c' PORT=8000 C={bind} node server.js D=e", "cmd", "--cmd", cores=2)
    assert one.contender.environment == {"A": "b c", "PORT": "{port}", "C": "{bind}"}
    assert one.contender.serve == ["node", "server.js", "D=e"]
    assert one.contender.server == "node"
    (own,) = command_settings("PORT=1{port} npm start", CURRENT, "--current", cores=2)
    assert own.contender.environment == {"PORT": "1{port}"}
    swept = command_settings("WEB_CONCURRENCY={workers} npm start", "cmd", "--cmd", cores=2)
    assert [setting.workers for setting in swept] == [1, 2, 4]


def test_who_is_told_where_to_listen_by_port_alone_is_known() -> None:
    def told(text: str) -> bool:
        return told_by_port(command_settings(text, "cmd", "--cmd", cores=1)[0].contender)

    assert told("npm start")
    assert told("PORT={port} node server.js")
    assert not told("node server.js {port}")
    assert not told("LISTEN={bind} node server.js")
    assert not told("gunicorn a:b")


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("", "--current: give a command, such as"),
        ("A=b C=d", "--current 'A=b C=d': variables alone are not a command; add one after them"),
        ("gunicorn 'app", "no closing quotation"),
        ("gunicorn {prt} app", r"\{prt\} is not a placeholder; there are \{bind\}"),
        ("A={prt} gunicorn", r"\{prt\} is not a placeholder"),
    ],
)
def test_what_is_no_command_is_said(typed: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        read_line(typed, "--current")


def test_a_command_with_workers_is_swept() -> None:
    settings = command_settings("serve {port} -w {workers}", "cmd", "--cmd", cores=3)
    assert [(s.name, s.workers, s.contender.workers) for s in settings] == [
        ("cmd-1w", 1, 1),
        ("cmd-3w", 3, 3),
        ("cmd-6w", 6, 6),
    ]
    (one,) = command_settings("serve {port}", "cmd", "--cmd", cores=3)
    assert (one.name, one.workers) == ("cmd", None)
    assert [s.name for s in command_settings("serve {port} -w {workers}", "cmd", "--cmd", cores=1)] == [
        "cmd-1w",
        "cmd-2w",
    ]
