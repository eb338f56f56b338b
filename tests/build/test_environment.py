"""What of the user's environment and home a build sees."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.build.fake_host import FakeHost
from webdyno.build import Job, build
from webdyno.build.environment import environment_in, said
from webdyno.build.tool import ask
from webdyno.rig.host import Command

SECRETS = {
    "AWS_SECRET_ACCESS_KEY": "a",
    "GITHUB_TOKEN": "b",
    "SSH_AUTH_SOCK": "/run/agent",
    "CARGO_REGISTRY_TOKEN": "c",
    "UV_PUBLISH_TOKEN": "d",
    "NPM_TOKEN": "e",
    "DATABASE_URL": "postgres://me:secret@db/",
}
NEEDED = {
    "PATH": "/opt/bin:/usr/bin",
    "https_proxy": "http://proxy:3128",
    "NO_PROXY": "localhost",
    "SSL_CERT_FILE": "/etc/ssl/ours.pem",
    "NODE_EXTRA_CA_CERTS": "/etc/ssl/ours.pem",
    "PIP_INDEX_URL": "https://mirror/simple",
    "UV_DEFAULT_INDEX": "https://mirror/simple",
    "UV_SYSTEM_CERTS": "1",
    "npm_config_registry": "https://mirror/npm",
    "GOPROXY": "https://mirror/go",
    "GONOSUMDB": "mine.example/*",
    "CARGO_HTTP_CAINFO": "/etc/ssl/ours.pem",
    "MAVEN_OPTS": "-Xmx1g",
    "XDG_CACHE_HOME": "/var/cache/me",
    "CC": "clang",
}


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's home, and an environment of these variables alone."""
    home = tmp_path / "user"
    home.mkdir()
    for name in os.environ:
        if name != "PYTEST_CURRENT_TEST":
            monkeypatch.delenv(name)
    for name, text in {**SECRETS, **NEEDED, "HOME": str(home)}.items():
        monkeypatch.setenv(name, text)
    return home


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


def test_a_build_sees_where_packages_come_from_and_no_secret(user: Path, scratch: Path) -> None:
    given = environment_in(scratch)
    assert NEEDED.items() <= given.items()
    assert not SECRETS.keys() & given.keys()
    assert given["HOME"] == given["TMPDIR"] == str(scratch)


def test_every_command_of_a_build_and_every_question_gets_such_an_environment(
    user: Path, job: Job, host: FakeHost, tmp_path: Path
) -> None:
    homes = []

    def looks(command: Command) -> str | int | None:
        homes.append(Path(command.environment["HOME"]))
        assert homes[-1].is_dir()
        return answer(command)

    answer, host.answer = host.answer, looks
    build(*job, tmp_path / "cache", host)
    ask(host, ["uv", "pip", "compile"])
    assert {command.role for command in host.commands} == {"build", "tool"}
    assert not [name for command in host.commands for name in SECRETS if name in command.environment]
    assert str(user) not in map(str, homes)
    assert not [home for home in homes if home.exists()]


def test_settings_of_registries_are_copied_with_their_rights_and_nothing_else_is(user: Path, scratch: Path) -> None:
    for name in (
        ".npmrc",
        ".config/uv/uv.toml",
        ".config/pip/pip.conf",
        ".ssh/id_ed25519",
        ".aws/credentials",
        ".netrc",
    ):
        (user / name).parent.mkdir(parents=True, exist_ok=True)
        (user / name).write_text(name)
        (user / name).chmod(0o600)
    environment_in(scratch)
    copied = {str(path.relative_to(scratch)) for path in scratch.rglob("*") if path.is_file()}
    assert copied == {".npmrc", ".config/uv/uv.toml", ".config/pip/pip.conf"}
    assert (scratch / ".npmrc").stat().st_mode & 0o777 == 0o600


def test_settings_may_lie_in_another_folder(
    user: Path, scratch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "settings" / "uv").mkdir(parents=True)
    (tmp_path / "settings" / "uv" / "uv.toml").write_text("offline = true\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    given = environment_in(scratch)
    assert (scratch / ".config" / "uv" / "uv.toml").read_text() == "offline = true\n"
    assert "XDG_CONFIG_HOME" not in given


def test_a_variable_that_the_settings_of_a_registry_name_belongs_to_them(user: Path, scratch: Path) -> None:
    (user / ".npmrc").write_text("//npm.example/:_authToken=${NPM_TOKEN}\n")
    given = environment_in(scratch)
    assert given["NPM_TOKEN"] == "e"
    assert "GITHUB_TOKEN" not in given


def test_what_tools_keep_stays_where_it_is(user: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (user / ".rustup").mkdir()
    monkeypatch.delenv("XDG_CACHE_HOME")
    given = environment_in(scratch)
    kept = {"XDG_CACHE_HOME": ".cache", "CARGO_HOME": ".cargo", "RUSTUP_HOME": ".rustup", "npm_config_cache": ".npm"}
    kept |= {"GOPATH": "go", "UV_PYTHON_INSTALL_DIR": ".local/share/uv/python"}
    assert {name: given[name] for name in kept} == {name: str(user / place) for name, place in kept.items()}
    assert "PYENV_ROOT" not in given  # there is none


def test_where_go_keeps_its_own_may_stand_in_its_file(user: Path, scratch: Path) -> None:
    (user / ".config" / "go").mkdir(parents=True)
    (user / ".config" / "go" / "env").write_text("GOPROXY=https://mirror\nGOPATH=/elsewhere\n")
    assert "GOPATH" not in environment_in(scratch)


def test_what_a_command_is_given_besides_goes_before(user: Path, scratch: Path) -> None:
    given = environment_in(scratch, GOFLAGS="-trimpath", CC="gcc")
    assert (given["GOFLAGS"], given["CC"]) == ("-trimpath", "gcc")


def test_what_builds_see_is_said_by_name(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name not in ("HOME", "PATH", "GOPROXY", "GITHUB_TOKEN"):
            monkeypatch.delenv(name)
    assert said() == (
        "builds see of your environment GOPROXY, PATH (not the other 2 variables), and a HOME of their own with the "
        "settings of your registries"
    )
