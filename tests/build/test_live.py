"""Builds that really install: small packages from the registries, in a cache of their own."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from tests import shipped
from tests.build.conftest import runtime
from tests.fakes import contender
from tests.rig.strapping import own_lock
from webdyno.build import Job, build, build_all, find_runtime, lock
from webdyno.model.built import Built, Found
from webdyno.model.errors import BuildError
from webdyno.rig.ask import asker
from webdyno.rig.here import Here
from webdyno.rig.strap import strap

__all__ = ["own_lock"]  # the fixture

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

KNOWN = shipped.catalogue()


@pytest.fixture(scope="module")
def here() -> Here:
    return Here()


@pytest.fixture(scope="module")
def python(here: Here) -> Found:
    """Any Python will do: this one."""
    found = find_runtime(runtime(find=[f"{sys.version_info[0]}.{sys.version_info[1]}"]), here)
    assert isinstance(found, Found), found
    return found


@pytest.fixture
def waitress(job: Job, python: Found) -> Job:
    """One wheel of pure Python without dependencies."""
    return job._replace(contender=contender("waitress", requires=["waitress==3.0.2"]), found=python)


def imports(built: Built, module: str) -> bool:
    done = subprocess.run(["python", "-c", f"import {module}"], env=built.environment, check=False)
    return done.returncode == 0


def test_a_small_contender_is_installed_and_comes_from_the_cache_the_second_time(
    waitress: Job, here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    first = build(*waitress, tmp_path / "cache", here)
    assert not list((tmp_path / "tmp").iterdir())
    assert not list((tmp_path / "cache" / "logs").glob("*.tmp"))
    assert first.versions["waitress"] == "3.0.2"
    assert imports(first, "waitress")
    assert shutil.which("waitress-serve", path=first.environment["PATH"]) is not None
    assert list(Path(first.directory).glob("__pycache__/app.*.pyc"))
    assert build(*waitress, tmp_path / "cache", here) == msgspec.structs.replace(first, seconds=0.0)


def test_what_cannot_be_installed_fails_with_the_installers_own_words(
    job: Job, python: Found, here: Here, tmp_path: Path
) -> None:
    job = job._replace(contender=contender("none", requires=["no-such-package-webdyno==9.9"]), found=python)
    with pytest.raises(BuildError, match=r"^could not install no-such-package-webdyno==9.9: uv ended with ") as caught:
        build(*job, tmp_path, here)
    assert "no-such-package-webdyno" in caught.value.log_tail.partition("\n")[2]
    assert len(caught.value.log_tail.encode()) <= 4096


def test_an_app_that_is_not_python_fails(waitress: Job, here: Here, tmp_path: Path) -> None:
    (waitress.sources / "app.py").write_text("def app(:\n")
    with pytest.raises(BuildError, match=r"^could not compile the app: ") as caught:
        build(*waitress, tmp_path, here)
    assert "SyntaxError" in caught.value.log_tail


SPY = """
import json, os, zipfile

def build_wheel(folder, config_settings=None, metadata_directory=None):
    home = os.path.expanduser("~")
    seen = {"environment": dict(os.environ), "home": home, "holds": sorted(os.listdir(home))}
    with open(%r, "w") as file:
        json.dump(seen, file)
    name = "spy-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        wheel.writestr("spy.py", "")
        wheel.writestr("spy-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: spy\\nVersion: 1.0\\n")
        tag = "Wheel-Version: 1.0\\nGenerator: spy\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
        wheel.writestr("spy-1.0.dist-info/WHEEL", tag)
        wheel.writestr("spy-1.0.dist-info/RECORD", "")
    return name
"""
"""What builds a package, and writes down what it sees while it does."""


def test_what_builds_a_package_sees_no_secret_and_not_the_users_home_but_uses_its_cache(
    job: Job, python: Found, here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, spy, report = tmp_path / "user", tmp_path / "spy", tmp_path / "seen.json"
    spy.mkdir()
    (user / ".aws").mkdir(parents=True)
    (user / ".aws" / "credentials").write_text("secret-of-mine")
    (spy / "backend.py").write_text(SPY % str(report))
    (spy / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    )
    for name in ("AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "SSH_AUTH_SOCK", "ANYTHING_ELSE"):
        monkeypatch.setenv(name, "secret-of-mine")
    monkeypatch.setenv("HOME", str(user))
    for name in ("UV_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    build(
        *job._replace(contender=contender("spy", requires=[f"spy @ {spy.as_uri()}"]), found=python),
        tmp_path / "c",
        here,
    )
    seen = json.loads(report.read_text())
    assert "secret-of-mine" not in report.read_text()
    assert seen["environment"]["HOME"] == seen["home"] != str(user)
    assert ".aws" not in seen["holds"]
    assert (user / ".cache" / "uv").is_dir()


BUILD = """
import pickle, sys
from webdyno.build import build
from webdyno.rig.here import Here
job, cache = pickle.load(sys.stdin.buffer)
build(*job, cache, Here())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["kill", "Ctrl-C"])
def test_a_build_that_was_ended_leaves_no_process_and_is_made_anew(
    job: Job, python: Found, here: Here, tmp_path: Path, number: signal.Signals
) -> None:
    job = job._replace(contender=contender("several", requires=["twisted==26.10.0", "tornado==6.6.1"]), found=python)
    cache = tmp_path / "cache"
    with subprocess.Popen([sys.executable, "-c", BUILD], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as building:
        assert building.stdin and building.stderr
        building.stdin.write(pickle.dumps((tuple(job), cache)))
        building.stdin.close()
        wait_until(lambda: any(cache.glob("environments/*/pyvenv.cfg")))
        building.send_signal(number)
        building.stderr.read()
    assert building.returncode in (-number, 1, 130)
    assert not list(cache.glob("environments/*/.complete"))
    wait_until(lambda: not processes_about(cache))
    built = build(*job, cache, here)
    assert imports(built, "twisted.web, tornado.web")


ASKING = """
import sys
from pathlib import Path
from webdyno.build.tool import ask
from webdyno.rig.strap import strap
with strap(None, Path(sys.argv[1]), way="bare") as strapped:
    ask(strapped, ["sleep", "60"])
"""


def test_settings_that_were_copied_for_a_question_are_removed_after_a_kill(own_lock: Path, tmp_path: Path) -> None:
    (tmp_path / "user").mkdir()
    (tmp_path / "user" / ".npmrc").write_text("//npm.example/:_authToken=secret\n")
    environment = {**os.environ, "HOME": str(tmp_path / "user"), "TMPDIR": str(own_lock)}
    with subprocess.Popen([sys.executable, "-c", ASKING, str(tmp_path / "cache")], env=environment) as asking:
        wait_until(lambda: any(own_lock.glob("*/.npmrc")))
        asking.kill()
    with strap(None, tmp_path / "cache"):
        assert not list(own_lock.glob("*/.npmrc"))


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def processes_about(folder: Path) -> list[str]:
    """Command lines that name ``folder``."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            lines.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return [line for line in lines if str(folder) in line]


def test_two_builds_of_the_same_at_once_make_it_once(waitress: Job, here: Here, tmp_path: Path) -> None:
    twice = [waitress, waitress._replace(contender=contender("again", requires=["waitress==3.0.2"]))]
    one, two = build_all(twice, tmp_path, here).values()
    assert isinstance(one, Built)
    assert isinstance(two, Built)
    assert one.key == two.key
    assert len(list(tmp_path.glob("environments/*/"))) == 1


def test_a_lock_is_resolved_and_then_installed(waitress: Job, here: Here, tmp_path: Path) -> None:
    target = tmp_path / "waitress.txt"
    fitting = runtime(find=[waitress.found.version.removeprefix("Python ").rpartition(".")[0]])
    lock(waitress.contender, waitress.app, fitting, target, here)
    wheel = "c56d67fd6e87c2ee598b76abdd4e96cfad1f24cacdea5078d382b1f9d7b5ed2e"
    head = "# locked for waitress==3.0.2; written by webdyno\nwaitress==3.0.2 \\\n    --hash=sha256:"
    assert target.read_text().startswith(head)
    assert f"--hash=sha256:{wheel}\n" in target.read_text()
    assert build(*waitress._replace(lock=target), tmp_path, here).versions["waitress"] == "3.0.2"
    target.write_text(f"waitress==3.0.2 --hash=sha256:{'0' * 64}\n")
    with pytest.raises(BuildError) as caught:
        build(*waitress._replace(lock=target), tmp_path, here)
    assert str(caught.value).startswith(
        f"could not install waitress==3.0.2: the file of waitress==3.0.2 does not match its hash in {target}"
    )


def test_a_node_app_gets_what_its_lock_holds(job: Job, here: Here, tmp_path: Path) -> None:
    node = KNOWN.runtimes["node"]
    found = find_runtime(node, here)
    if isinstance(found, str):
        pytest.skip(found)
    (job.sources / "package.json").write_text('{"name": "small", "private": true, "dependencies": {"ms": "2.1.3"}}')
    (job.sources / "package-lock.json").write_text(PACKAGE_LOCK)
    built = build(
        *job._replace(contender=contender("ms", requires=["ms@2.1.3"]), runtime=node, found=found), tmp_path, here
    )
    assert built.versions == {"node": found.version, "ms": "2.1.3"}


PACKAGE_LOCK = """
{
  "name": "small",
  "lockfileVersion": 3,
  "requires": true,
  "packages": {
    "": {"name": "small", "dependencies": {"ms": "2.1.3"}},
    "node_modules/ms": {
      "version": "2.1.3",
      "resolved": "https://registry.npmjs.org/ms/-/ms-2.1.3.tgz",
      "integrity": "sha512-6FlzubTLZG3J2a/NVCAleEhjzq5oxgHyaCU9yYXvcLsvoVaHJq/s5xXI6/XXP6tz7R9xAOtHnSO/tXtF3WRTlA==",
      "license": "MIT"
    }
  }
}
"""


def test_the_go_contender_compiles(here: Here, tmp_path: Path) -> None:
    it = KNOWN.contenders["go"]
    found = find_runtime(KNOWN.runtimes[it.runtime], here)
    if isinstance(found, str):
        pytest.skip(found)
    sources = KNOWN.app_directories[it.app]
    built = build(it, KNOWN.apps[it.app], KNOWN.runtimes[it.runtime], found, sources, None, tmp_path, here)
    assert os.access(Path(built.directory) / "server", os.X_OK)
    assert not list(sources.glob("server"))


def test_a_rust_program_compiles_and_tells_its_crates(here: Here, job: Job, tmp_path: Path) -> None:
    rust = KNOWN.runtimes["rust"]
    found = find_runtime(rust, here)
    if isinstance(found, str):
        pytest.skip(found)
    (job.sources / "Cargo.toml").write_text(
        '[package]\nname = "small"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nitoa = "=1.0.15"\n'
    )
    (job.sources / "Cargo.lock").write_text(CARGO_LOCK)
    (job.sources / "src").mkdir()
    (job.sources / "src" / "main.rs").write_text('fn main() { print!("{}", itoa::Buffer::new().format(42)); }\n')
    app = msgspec.structs.replace(job.app, build=[["cargo", "build", "--locked", "--release"]])
    job = job._replace(contender=contender("small", requires=["itoa@1.0.15"]), app=app, runtime=rust, found=found)
    built = build(*job, tmp_path, here)
    assert built.versions == {"rust": found.version, "itoa": "1.0.15"}
    program = Path(built.environment["PATH"].split(os.pathsep)[0]) / "small"
    assert asker(here)([str(program)]) == "42"


CARGO_LOCK = """
version = 3

[[package]]
name = "itoa"
version = "1.0.15"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "4a5f13b858c8d314ee3e8f639011f7ccefe71f97f96e50151fb991f267928e2c"

[[package]]
name = "small"
version = "0.1.0"
dependencies = ["itoa"]
"""
