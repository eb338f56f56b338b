"""The launcher of Tornado behind nginx, with stand-ins for both: nginx comes when every backend has answered."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from webdyno.read import default_folder

APP = default_folder() / "apps" / "python-tornado-nginx"
BACKEND = """
import os, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
for status in ("503 Not Yet", "200 OK"):
    with listener.accept()[0] as connection:
        connection.recv(1000)
        connection.sendall(f"HTTP/1.0 {status}\\r\\n\\r\\n".encode())
    with open(os.environ["TOLD"], "a") as told:
        told.write(f"{sys.argv[1]} said {status}\\n")
"""
NGINX = """
import os, pathlib, sys
with open(os.environ["TOLD"], "a") as told:
    told.write("nginx " + " ".join(sys.argv[1:]) + "\\n" + pathlib.Path("nginx.conf").read_text())
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The launcher and its template, and the two stand-ins."""
    folder = tmp_path / "app"
    shutil.copytree(APP, folder)
    (folder / "backend.py").write_text(BACKEND)
    nginx = tmp_path / "bin" / "nginx"
    nginx.parent.mkdir()
    command = shlex.join([sys.executable, "-c", NGINX])  # a path with a blank can stand in no first line of a script
    nginx.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    nginx.chmod(0o755)
    return folder


def launch(folder: Path, backends: int) -> tuple[subprocess.CompletedProcess[str], str]:
    told = folder.parent / "told"
    told.touch()
    environment = {"PATH": str(folder.parent / "bin"), "TMPDIR": str(folder.parent), "TOLD": str(told)}
    command = [sys.executable, str(folder / "serve.py"), "127.0.0.1:8000", str(backends), "3"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    return done, told.read_text()


def test_nginx_begins_when_every_backend_has_given_a_right_answer(folder: Path) -> None:
    done, told = launch(folder, 2)
    assert (done.returncode, done.stderr) == (0, "")
    before, _, conf = told.partition("nginx -p")
    right = [line for line in before.splitlines() if line.endswith("200 OK")]
    assert sorted(right) == ["backend-0.sock said 200 OK", "backend-1.sock said 200 OK"]
    assert "listen 127.0.0.1:8000 backlog=1024;" in conf
    assert "worker_processes 3;" in conf
    assert conf.count("server unix:backend-") == 2
    assert "Host $http_host;" in conf
    assert ("user root;" in conf) == (os.geteuid() == 0)


def test_a_backend_that_ends_ends_the_launcher_and_says_so(folder: Path) -> None:
    (folder / "backend.py").write_text("raise SystemExit(3)")
    done, told = launch(folder, 1)
    assert done.returncode == 1
    assert done.stderr == "the backend on backend-0.sock ended with 3\n"
    assert told == ""
