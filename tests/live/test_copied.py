"""What ``try`` prints to be copied is copied: each server is installed and started by it, in an empty environment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uv

from webdyno.build import lacking
from webdyno.commands.options import catalogue_of
from webdyno.rig.ports import free_port
from webdyno.session.tryout import copying
from webdyno.session.tryout.copying import Around, Copied, to_copy
from webdyno.session.tryout.fitting import base_setting, fitting
from webdyno.session.tryout.project import Project, Said

pytestmark = pytest.mark.live

KNOWN = catalogue_of(None)
APPS = {
    "wsgi": """
import os

def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(TEXT)))])
    return [TEXT]
""",
    "asgi": """
import os

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            kind = (await receive())["type"]
            await send({"type": f"{kind}.complete"})
            if kind == "lifespan.shutdown":
                return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(TEXT))]})
    await send({"type": "http.response.body", "body": TEXT})
""",
    "rsgi": """
import os

class App:
    async def __rsgi__(self, scope, protocol):
        protocol.response_bytes(200, [], TEXT)

app = App()
""",
}
SERVERS = [(interface, each.name) for interface in APPS for each in fitting(KNOWN, interface, None)]
READY_S = 20.0


def project(folder: Path, interface: str) -> Project:
    """One with an environment of its own, whose application is nothing without its variable."""
    (folder / "shop.py").write_text(APPS[interface] + 'TEXT = os.environ["SHOP_TEXT"].encode()\n')
    (folder / "shop.env").write_text("export SHOP_TEXT='open sesame' # said\n")
    subprocess.run([uv.find_uv_bin(), "venv", "-q", "--python", sys.executable, str(folder / ".venv")], check=True)
    said = Said(list(sys.version_info[:3]), "cpython", sys.executable, [], {})
    return Project(
        folder=folder,
        python=folder / ".venv/bin/python",
        how="",
        variables={},
        target="shop:app",
        interface=interface,  # type: ignore[arg-type]  # one of the three
        said=said,
    )


def copied(own: Project, name: str) -> Copied:
    contender = KNOWN.contenders[name]
    setting = base_setting(contender, own, "/cache/x", 2)
    around = Around(
        project=own, folder=own.folder, cores=2, cache=Path("/cache"), env_file=own.folder / "shop.env", names=()
    )
    return to_copy(setting, (contender, KNOWN.app_directories[contender.app]), around)


def install(line: str, folder: Path) -> None:
    """By a shell in which no environment is active; how this machine reaches the index is its own affair."""
    kept = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
    path = f"{Path(uv.find_uv_bin()).parent}:/usr/local/bin:/usr/bin:/bin"
    done = subprocess.run(
        ["/bin/sh", "-c", line], cwd=folder, env={**kept, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@contextmanager
def started(command: str, folder: Path) -> Iterator[Path]:
    log = folder / "log"
    with (
        log.open("wb") as out,
        subprocess.Popen(
            ["/bin/sh", "-c", command], cwd=folder, env={}, stdout=out, stderr=out, start_new_session=True
        ) as server,
    ):
        try:
            yield log
        finally:
            os.killpg(server.pid, signal.SIGKILL)


def answer(port: int, log: Path) -> bytes:
    ends = time.monotonic() + READY_S
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as response:
                return bytes(response.read())
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            assert time.monotonic() < ends, log.read_text(errors="replace")
            time.sleep(0.05)


@pytest.mark.parametrize(("interface", "name"), SERVERS, ids=[f"{interface}-{name}" for interface, name in SERVERS])
def test_what_is_recommended_is_installed_and_started_from_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interface: str, name: str
) -> None:
    if reason := lacking(KNOWN.contenders[name]):
        pytest.skip(reason)
    port = free_port("127.0.0.1")
    monkeypatch.setattr(copying, "PORT", port)
    text = copied(project(tmp_path, interface), name)
    for file, content in text.files.items():
        (tmp_path / file).write_text(content)
    install(text.install, tmp_path)
    with started(text.command, tmp_path) as log:
        assert answer(port, log) == b"open sesame"
