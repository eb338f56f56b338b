"""What the shells offer: names of studies, contenders and workloads; each shell that is here is asked."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests import shipped
from webdyno.commands import call

WANTED = [
    (["run", ""], "quickstart"),
    (["run", "quick"], "quickstart"),
    (["plan", "w"], "wsgi"),
    (["list", "--study", "quick"], "quickstart"),
    (["run", "quickstart", "-k", "waitr"], "waitress"),
    (["run", "quickstart", "-k", "node,waitr"], "node,waitress"),
    (["plan", "quickstart", "--contender", "gunicorn-g"], "gunicorn-gevent"),
    (["run", "quickstart", "-w", "hel"], "hello"),
    (["check", "waitr"], "waitress"),
    (["check", "node", "waitr"], "waitress"),
    (["lock", "waitr"], "waitress"),
    (["capacity", "waitr"], "waitress"),
    (["compare", "node", "waitr"], "waitress"),
    (["try", "a:b", "-k", "waitr"], "waitress"),
    (["show", "python-ws"], "python-wsgi"),
]


def offered(words: list[str], capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert call(["__complete", *words]) == 0
    return [line.split("\t")[0] for line in capsys.readouterr().out.splitlines() if not line.startswith("\x1f")]


@pytest.mark.parametrize(("words", "name"), WANTED)
def test_names_are_offered(words: list[str], name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert name in offered(words, capsys)


def test_all_contenders_are_and_none_twice(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(offered(["check", ""], capsys)) >= set(shipped.catalogue().contenders)
    assert "node,node" not in offered(["run", "quickstart", "-k", "node,"], capsys)


def test_a_catalogue_of_ones_own_is_offered_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "studies").mkdir()
    text = (
        'title = "t"\nquestion = "q"\ncontenders = ["waitress"]\nworkloads = ["hello"]\n[[loads]]\nconnections = [1]\n'
    )
    (tmp_path / "studies" / "mine.toml").write_text(text + "duration_s = 1\n")
    assert "mine" in offered(["run", "--catalogue", str(tmp_path), ""], capsys)
    assert "quickstart" in offered(["run", "--catalogue", "/no/where", ""], capsys)


def script(shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The script, and a ``webdyno`` that offers two names whatever is asked, so that no shell waits for ours."""
    assert call(["completion", shell]) == 0
    (tmp_path / "completion").write_text(capsys.readouterr().out)
    (tmp_path / "webdyno").write_text("#!/bin/sh\nprintf '\\037begin\\nwaitress\\nwsgiref\\n'\n")
    (tmp_path / "webdyno").chmod(0o755)
    return tmp_path / "completion"


ASK = {
    "bash": "source {script}; COMP_WORDS=({line}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); _webdyno; "
    'printf "%s\\n" "${{COMPREPLY[@]}}"',
    "fish": "source {script}; complete -C '{line}' | string split -f1 \\t",
}


@pytest.mark.parametrize("line", ["webdyno run quickstart -k wait", "webdyno check wait", "webdyno capacity wait"])
@pytest.mark.parametrize("shell", ASK)
def test_the_shell_offers_what_webdyno_says(
    shell: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    asked = ASK[shell].format(script=script(shell, tmp_path, capsys), line=line)
    done = subprocess.run([program, "-c", asked], check=False, capture_output=True, text=True, timeout=30)
    assert (done.stdout.split(), done.stderr) == (["waitress"], "")


def test_zsh_loads_the_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = shutil.which("zsh")
    if program is None:
        pytest.skip("zsh is not installed")
    asked = f"autoload -U compinit; compinit -u -D; source {script('zsh', tmp_path, capsys)}; print $_comps[webdyno]"
    done = subprocess.run([program, "-fc", asked], check=False, capture_output=True, text=True, timeout=30)
    assert done.stdout.strip() == "_webdyno", done.stderr
