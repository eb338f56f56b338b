"""Revisions: checked out apart from a real repository, built, and never left behind in it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests import shipped
from tests.rig.strapping import own_lock, strapped
from webdyno.model.built import Built
from webdyno.model.errors import BuildError, UsageError
from webdyno.rig.strap import Strapped
from webdyno.session.revisions import (
    Revision,
    RevisionError,
    by_command,
    catalogue_by_file,
    check_out,
    refuse_failed_builds,
    resolve,
    say_what_builds_see,
)

__all__ = ["own_lock", "strapped"]
CONTENDER = (
    'app = "mine"\nruntime = "cpython-3.11"\nserver = "mine"\nmodel = "event loop"\n'
    'serve = ["python", "app.py", "{port}"]\nbecause = "tests"\nauthor = "tests"\n'
)
APP = 'language = "Python"\ninterface = "native"\nframework = "none"\nanswers = ["hello"]\n'


def git(repository: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", "-C", str(repository), *identity, *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits: the second changes app.py."""
    folder = tmp_path / "repository"
    (folder / "bench" / "contenders").mkdir(parents=True)
    (folder / "bench" / "apps" / "mine").mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    (folder / "bench" / "contenders" / "mine.toml").write_text(CONTENDER)
    (folder / "bench" / "apps" / "mine" / "app.toml").write_text(APP)
    for text in ("one", "two"):
        (folder / "app.py").write_text(text)
        (folder / "bench" / "apps" / "mine" / "app.py").write_text(text)
        git(folder, "add", "-A")
        git(folder, "commit", "--quiet", "-m", text)
    return folder


def revision(repository: Path, rev: str, side: str, strapped: Strapped) -> Revision:
    (commit,) = resolve(repository, [rev], strapped)
    return check_out(repository, side, rev, commit, strapped)


def test_each_revision_has_its_own_files_and_the_repository_is_only_read(repository: Path, strapped: Strapped) -> None:
    (repository / "app.py").write_text("not committed")
    before = sorted(str(path) for path in (repository / ".git").rglob("*"))
    base, head = (revision(repository, *which, strapped) for which in (("HEAD~1", "base"), ("main", "head")))
    assert [(each.folder / "app.py").read_text() for each in (base, head)] == ["one", "two"]
    assert sorted(str(path) for path in (repository / ".git").rglob("*")) == before
    assert (repository / "app.py").read_text() == "not committed"
    assert head.named == f"head (main, {git(repository, 'rev-parse', 'HEAD')[:8]})"
    strapped.end_all()
    assert not base.folder.exists()
    assert not base.folder.parent.exists()


def test_what_is_no_revision_or_no_repository_is_said(repository: Path, strapped: Strapped, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--rev nosuch: .* has no such revision; see: git -C"):
        resolve(repository, ["main", "nosuch"], strapped)
    with pytest.raises(UsageError, match=r"--rev --help"):
        resolve(repository, ["--help"], strapped)
    (tmp_path / "plain").mkdir()
    with pytest.raises(UsageError, match=r"--repo .*plain: this is no git repository"):
        resolve(tmp_path / "plain", ["main"], strapped)


def test_a_command_serves_what_the_build_made(repository: Path, strapped: Strapped) -> None:
    head = revision(repository, "main", "head", strapped)
    cmd, builds = "./serve --port {port} 'a b'", ["cp app.py built.py", "echo done"]
    contender, built = by_command(head, cmd, builds, {"A": "b"}, "path", strapped)
    assert (head.folder / "built.py").read_text() == "two"
    assert contender.serve == ["./serve", "--port", "{port}", "a b"]
    assert (contender.name, contender.environment, contender.answers) == ("head", {}, ["path"])
    assert (built.environment, built.hidden["A"]) == ({}, "b")
    assert (built.directory, built.versions) == (str(head.folder), {"revision": head.commit})


def test_what_builds_and_what_serves_finds_the_users_caches(
    repository: Path, strapped: Strapped, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("PIP_CACHE_DIR", "/elsewhere")
    for name in ("XDG_CACHE_HOME", "GOPATH", "GOCACHE", "GOMODCACHE", "npm_config_cache"):
        monkeypatch.delenv(name, raising=False)
    head = revision(repository, "main", "head", strapped)
    told = "echo $XDG_CACHE_HOME $GOPATH $npm_config_cache $PIP_CACHE_DIR > told"
    _, built = by_command(head, "./serve {port}", [told], {}, "path", strapped)
    assert (head.folder / "told").read_text().split() == [
        "/home/me/.cache",
        "/home/me/go",
        "/home/me/.npm",
        "/elsewhere",
    ]
    places = ["/home/me/.cache/go-build", "/home/me/go/pkg/mod", "/home/me/.npm", "/elsewhere"]
    asked = ("GOCACHE", "GOMODCACHE", "npm_config_cache", "PIP_CACHE_DIR")
    assert [built.hidden[name] for name in asked] == places


def test_what_builds_sees_what_env_names_and_no_other_secret_of_the_users(
    repository: Path, strapped: Strapped, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    head = revision(repository, "main", "head", strapped)
    build = 'echo "$GITHUB_TOKEN|$FLAVOUR|$HOME" > told'
    by_command(head, "./serve {port}", [build], {"FLAVOUR": "sweet"}, "path", strapped)
    token, flavour, home = (head.folder / "told").read_text().strip().split("|")
    assert (token, flavour) == ("", "sweet")
    assert home != os.environ.get("HOME")
    with caplog.at_level("INFO", "webdyno"):
        say_what_builds_see([])
        assert caplog.messages == []
        say_what_builds_see([build])
    (line,) = caplog.messages
    assert line.startswith("note: builds see of your environment ")
    assert line.endswith("; pass anything else they need with --env")
    assert "GITHUB_TOKEN" not in line


def test_git_reads_the_users_settings(
    repository: Path, strapped: Strapped, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (tmp_path / ".gitconfig").write_text("[core]\n\tautocrlf = true\n")
    (repository / "app.py").write_text("three\n")
    git(repository, "commit", "--quiet", "-am", "three")
    assert (revision(repository, "main", "head", strapped).folder / "app.py").read_bytes() == b"three\r\n"
    (tmp_path / ".gitconfig").write_text("[no end")
    with pytest.raises(UsageError, match=r"no git repository \(or not yours to read\)$"):
        resolve(repository, ["main"], strapped)


def test_a_revision_that_does_not_build_is_one_sentence_with_its_log(repository: Path, strapped: Strapped) -> None:
    head = revision(repository, "main", "head", strapped)
    with pytest.raises(RevisionError) as caught:
        by_command(head, "x {port}", ["echo no compiler here; exit 4"], {}, "path", strapped)
    assert str(caught.value).startswith(
        f"head (main, {head.commit[:8]}) does not build: could not build it by 'echo no"
    )
    assert "sh ended with status 4" in str(caught.value)
    assert caught.value.log_tail.endswith("no compiler here\n")
    assert caught.value.side == "head"


@pytest.mark.parametrize(
    ("cmd", "complaint"), [("python app.py", "does not say {port}"), ("x '{port}", "cannot be read"), ("", "{port}")]
)
def test_a_command_that_cannot_be_told_its_port_is_refused(cmd: str, complaint: str, tmp_path: Path) -> None:
    nowhere = Revision(side="base", rev="main", commit="0" * 40, folder=tmp_path)
    with pytest.raises(UsageError, match=complaint):
        by_command(nowhere, cmd, [], {}, "path", None)  # type: ignore[arg-type]


def test_a_contenders_file_is_read_in_each_revision(repository: Path, strapped: Strapped) -> None:
    sides = [revision(repository, *which, strapped) for which in (("HEAD~1", "base"), ("main", "head"))]
    known = catalogue_by_file(shipped.catalogue(), sides, Path("bench/contenders/mine.toml"))
    apps = [known.contenders[side].app for side in ("base", "head")]
    assert apps == ["mine@base", "mine@head"]
    assert [(known.app_directories[app] / "app.py").read_text() for app in apps] == ["one", "two"]
    for file, complaint in (("bench/contenders/no.toml", "has no such file"), ("app.py", "folder contenders")):
        with pytest.raises(UsageError, match=complaint):
            catalogue_by_file(known, sides, Path(file))


def test_a_failed_build_says_of_which_revision(tmp_path: Path) -> None:
    sides = [Revision(side=side, rev="main", commit="1" * 40, folder=tmp_path) for side in ("base", "head")]
    with pytest.raises(RevisionError, match=r"head \(main, 11111111\) does not build: neither"):
        refuse_failed_builds({"base": BuildError("no such package"), "head": BuildError("neither")}, sides)
    good = Built(contender="head", key="a", directory=".", environment={}, versions={}, log="", seconds=0.0)
    with pytest.raises(RevisionError, match=r"base \(main, 11111111\) does not build: no such package"):
        refuse_failed_builds({"base": BuildError("no such package"), "head": good}, sides)
