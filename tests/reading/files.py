"""Readers of files: a catalogue's, a project's, those of tools that install, and our own, which others may write."""

from __future__ import annotations

from pathlib import Path

from tests.reading.registry import Reader, put
from webdyno import now
from webdyno.build import cache, jvm, locks, node
from webdyno.build.pyproject import pyproject_of
from webdyno.build.requirements import lines_of, local_of
from webdyno.commands.loading.speaking import _pem
from webdyno.commands.loading.targets import _body
from webdyno.read import default_folder, read_catalogue, read_study
from webdyno.read.folders import read_requests
from webdyno.session.ceilings import known_ceilings
from webdyno.session.tryout.envfile import how_read, read_env_file
from webdyno.session.tryout.resuming import _finished

CATALOGUE = default_folder()
KNOWN = read_catalogue([CATALOGUE])


def _toml(kind: str, name: str) -> bytes:
    return (CATALOGUE / kind / f"{name}.toml").read_bytes()


def _in_catalogue(kind: str, samples: list[str]) -> Reader:
    def read(data: bytes, folder: Path) -> object:
        put(folder, data, kind, "mine.toml") if kind != "apps" else put(folder, data, kind, "mine", "app.toml")
        return read_catalogue([folder])

    given = [_toml(kind, name) for name in samples]
    return Reader(f"{kind} of a catalogue", "read/source.py", read, given, alone=False)


def _first(kind: str) -> list[str]:
    return [path.stem for path in sorted((CATALOGUE / kind).glob("*.toml"))[:3]]


def _study(data: bytes, folder: Path) -> object:
    return read_study(put(folder, data, "mine.toml"), KNOWN)


def _env(data: bytes, folder: Path) -> object:
    path = put(folder, data, ".env")
    return read_env_file(path), how_read(path)


def _requirements(data: bytes, folder: Path) -> object:
    return [local_of(line, folder) for line in lines_of(put(folder, data, "requirements.txt"))]


def _needs(data: bytes, folder: Path) -> object:
    put(folder, data, "pyproject.toml")
    project = pyproject_of(folder)
    return project.writes, project.needs(), project.needs(["extra"]), project.says_needs


def _lock(data: bytes, folder: Path) -> object:
    return locks.lines_from(put(folder, data, "lock.txt"), ["flask==3.1.3"])


def _npm(data: bytes, folder: Path) -> object:
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / ".package-lock.json").write_bytes(data)
    return node.installed(folder)


def _jars(data: bytes, folder: Path) -> object:
    put(folder, data, jvm.HASHES)
    return jvm._refuse_other_jars(folder)


LOCK = b"""# webdyno lock
blinker==1.9.0 \\
    --hash=sha256:ba0efaa9080b619ff2f3459d1d500c57bddea4a6b424b60a91141db6fd2f08bc
    # via flask
flask==3.1.3 \\
    --hash=sha256:0ef0e52b8a9cd932855379197dd8f94047b359ca0a78695144304cb45f87c9eb
"""
PROJECT = b"""[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "shop"
dependencies = ["flask==3.1.3", "own @ file:///x", "shop[extra]"]
optional-dependencies = { extra = ["waitress>=3"] }
[tool.uv.sources]
flask = { path = "../flask" }
[tool.poetry.dependencies]
x = [{ path = "y" }]
"""
REQUIREMENTS = b"flask==3.1.3 # web\n-r other.txt\n-c held.txt\n-e ./lib[extra]\nown @ file:./own ; os>'3'\n./x\n"
NPM = b'{"name":"x","packages":{"node_modules/a":{"version":"1.0.0","integrity":"i"},"node_modules/b":{}}}'

FILES = [
    *(_in_catalogue(kind, _first(kind)) for kind in ("contenders", "runtimes", "workloads", "matrices", "services")),
    Reader("a study", "read/source.py", _study, [_toml("studies", name) for name in _first("studies")]),
    Reader(
        "a file of requests",
        "read/folders.py",
        lambda data, at: read_requests(put(at, data, "r.toml")),
        [b'[[requests]]\nname = "a"\npath = "/a"\n[requests.expect]\nbody = "x"\nstatuses = [200]\n'],
    ),
    Reader("a .env file", "session/tryout/envfile.py", _env, [b"A=1\nexport B='x y' # c\nC=\"a\\nb\"\n# x\n"]),
    Reader("requirements.txt", "build/requirements.py", _requirements, [REQUIREMENTS]),
    Reader("pyproject.toml", "build/pyproject.py", _needs, [PROJECT]),
    Reader("a lock of pip's", "build/locks.py", _lock, [LOCK]),
    Reader("npm's lock", "build/node.py", _npm, [NPM]),
    Reader("hashes of jars", "build/jvm.py", _jars, [b"0ef0  a.jar\nba0e  b.jar\n"]),
    Reader(
        "Maven's list",
        "build/jvm.py",
        lambda data, at: jvm.versions_in(put(at, data, "dependencies.txt")),
        [b"   org.x:y:jar:1.2.3:compile\n"],
    ),
    Reader(
        "the marker of a build",
        "build/cache.py",
        lambda data, at: cache.complete(put(at, data, cache.MARKER).parent),
        [b'{"versions":{"a":"1"},"seconds":1.5}'],
    ),
    Reader("now.json", "now.py", lambda data, at: now.read(put(at, data, now.FILE).parent), [b'{"number":1}']),
    Reader(
        "calibration.json",
        "session/ceilings.py",
        lambda data, at: known_ceilings(put(at, data, "calibration.json").parent, None),
        [b'{"fingerprint":{},"ceilings":[]}'],
    ),
    Reader(
        "the answer of a tryout",
        "session/tryout/resuming.py",
        lambda data, at: _finished(put(at, data, "answer.json").parent),
        [b'{"complete":true}'],
    ),
    Reader(
        "a body in a file", "commands/loading/targets.py", lambda data, at: _body(f"@{put(at, data, 'body')}"), [b"x"]
    ),
    Reader(
        "certificates",
        "commands/loading/speaking.py",
        lambda data, at: _pem(put(at, data, "ca.pem")),
        [b"-----BEGIN CERTIFICATE-----\n"],
    ),
]
