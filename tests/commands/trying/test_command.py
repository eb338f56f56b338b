"""Commands of the user's: where they listen is put in, and what cannot be is said."""

from __future__ import annotations

import pytest

from webdyno.commands.trying.command import CURRENT, command_settings, current_words
from webdyno.model.errors import UsageError


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
        ("fastapi run main.py", "fastapi run --host {host} --port {port} main.py"),
        ("python manage.py runserver 0.0.0.0:80 --noreload", "python manage.py runserver {bind} --noreload"),
        ("python manage.py runserver", "python manage.py runserver {bind}"),
        ("python own.py {port}", "python own.py {port}"),
    ],
)
def test_where_known_programs_listen_is_put_in(typed: str, made: str) -> None:
    assert " ".join(current_words(typed)) == made


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("python own.py", r"say \{port\} \(or \{bind\}\) where the port stands"),
        ("", "--current: give a command"),
        ("gunicorn 'app", "no closing quotation"),
        ("gunicorn {prt} app", r"\{prt\} is no placeholder; there are \{bind\}"),
    ],
)
def test_what_cannot_be_put_in_is_said(typed: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        current_words(typed)


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


def test_a_command_must_say_its_port() -> None:
    with pytest.raises(UsageError, match=r"--cmd 'serve 8000': say \{port\}"):
        command_settings("serve 8000", "cmd", "--cmd", cores=1)
    assert command_settings("gunicorn a:b", CURRENT, "--current", cores=1)[0].contender.server == "gunicorn"
