"""The way container: what either engine is asked, what is believed of it, and what is refused in one sentence."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from webdyno.model.errors import MachineError
from webdyno.model.way import WAYS
from webdyno.rig import containers as module
from webdyno.rig.containers import Containers, Limits, find_containers
from webdyno.rig.engines import Answered, Engine
from webdyno.rig.here import Here
from webdyno.rig.host import Command

LIMITS = Limits(cores=(0, 2), cpus=1.5, memory_bytes=2**29)
ENGINE = r"""#!/bin/sh
echo "$*" >> "$0.calls"
case "$1 $2" in
"version --format") echo 4.3.1;;
"image inspect") [ -e "$0.image" ];;
import*) touch "$0.image";;
"run --rm") [ -e "$0.broken" ] && { echo "Error: crun: not permitted" >&2; exit 126; }
    while [ "$1" != /bin/sh ]; do shift; done
    cat "$0.told" > "$4"; echo "limits are ignored" >&2;;
esac
"""


def engine(folder: Path, name: str, told: str = f"{2**29}\nv1\n") -> Path:
    """A fake program called podman or docker, whose containers say that of their limits."""
    program = folder / name
    program.write_text(ENGINE)
    program.chmod(0o755)
    (folder / f"{name}.told").write_text(told)
    return program


def of(name: str, folder: Path) -> Containers:
    def ask(argv: object, within_s: float | None = None) -> Answered:
        return Answered(0, "", "")

    (folder / "cache").mkdir(exist_ok=True)
    made = Engine(name, f"/usr/bin/{name}", "9", ask)
    return Containers(engine=made, image="places:1", limits=LIMITS, token="t0", cache=folder / "cache")


def command(folder: Path, **environment: str) -> Command:
    home, log, cwd = folder / "home", folder / "log", folder / "built"
    cwd.mkdir(exist_ok=True)
    inside = {"HOME": str(home), "PATH": "/env/bin:/usr/bin", **environment}
    return Command(argv=["serve", "--port", "1"], cwd=cwd, environment=inside, role="contender", stdout=log)


@pytest.mark.parametrize("name", ["podman", "docker"])
def test_both_engines_are_asked_the_same(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 0)
    made = of(name, tmp_path).wrapped(command(tmp_path, SECRET="open sesame"), 100)
    assert made.argv[:3] == [f"/usr/bin/{name}", "run", "--rm"]
    assert {
        *("--network=host", "--pull=never", "--log-driver=none", "--label=webdyno=t0", "--read-only"),
        *("--cpuset-cpus=0,2", "--cpus=1.5", "--memory=536870912", "--memory-swap=536870912", "--pids-limit=100"),
        *(f"--workdir={tmp_path / 'built'}", "--env=WEBDYNO_RIG", "--env=SECRET", "--env=PATH=/env/bin:/usr/bin"),
    } < {*made.argv}
    at = made.argv.index("places:1")
    assert made.argv[at + 1 :] == ["/bin/sh", "-c", module._TO_LOG, str(tmp_path / "log"), "serve", "--port", "1"]
    assert "sesame" not in " ".join(made.argv)
    assert made.contained
    assert made.environment["SECRET"] == "open sesame"
    assert made.environment["PATH"] == os.environ["PATH"], "the client's own, which finds its helpers there"
    assert not any(word.startswith(("--user", "--userns")) for word in made.argv)


def test_what_differs_between_the_engines_is_how_a_user_stays_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    asked = {name: of(name, tmp_path).wrapped(command(tmp_path), 100).argv[1:] for name in ("podman", "docker")}
    only = {name: set(asked[name]) - set(asked[other]) for name, other in (("podman", "docker"), ("docker", "podman"))}
    assert only == {name: {module._AS_USER[name]} for name in ("podman", "docker")}


def test_files_are_read_only_but_for_its_own_folder_and_its_log(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "disk").mkdir()
    (tmp_path / "cache" / "environments").symlink_to(tmp_path / "disk")
    words = of("podman", tmp_path).wrapped(command(tmp_path), 100).argv
    mounts = [word.removeprefix("--mount=type=bind,source=") for word in words if word.startswith("--mount")]
    written = [mount.partition(",")[0] for mount in mounts if not mount.endswith(",readonly")]
    read = [mount.partition(",")[0] for mount in mounts if mount.endswith(",readonly")]
    assert written == [str(tmp_path / "home"), str(tmp_path / "log")]
    assert {"/usr", "/etc"} < {*read}
    assert not {"/proc", "/sys", "/dev", "/run", "/tmp", "/var"} & {*read}
    if tmp_path.is_relative_to("/tmp"):
        assert {str(tmp_path / name) for name in ("cache", "disk", "built")} < {*read}


def test_the_image_holds_places_and_links_and_no_file() -> None:
    with tarfile.open(fileobj=io.BytesIO(module._archive())) as archive:
        assert {entry.type for entry in archive} <= {tarfile.DIRTYPE, tarfile.SYMTYPE}
        assert archive.getmember("usr").isdir()
    assert module._archive() == module._archive()


@pytest.mark.live
def test_an_engine_is_taken_once_a_container_of_it_said_its_limit(here: Here, tmp_path: Path) -> None:
    program = engine(tmp_path, "podman")
    found = find_containers(here, tmp_path, LIMITS, str(tmp_path))
    assert (found.version, found.kind, found.token) == ("podman 4.3.1", "v1", here.token)
    assert "import" in program.with_name("podman.calls").read_text()
    before = program.with_name("podman.calls").read_text().count("import")
    find_containers(here, tmp_path, LIMITS, str(tmp_path))
    assert program.with_name("podman.calls").read_text().count("import") == before, "the image is there by now"


@pytest.mark.live
def test_an_engine_that_ignores_limits_or_runs_nothing_is_passed_over(here: Here, tmp_path: Path) -> None:
    engine(tmp_path, "podman", "max\nv2\n")
    with pytest.raises(MachineError) as ignored:
        find_containers(here, tmp_path, LIMITS, str(tmp_path))
    assert str(ignored.value) == (
        "--way container: podman does not enforce a memory limit on its containers: limits are ignored; choose another "
        "way: --way cgroup or bare"
    )
    (tmp_path / "podman.broken").touch()
    with pytest.raises(MachineError, match="podman could not run a container: Error: crun: not permitted; choose"):
        find_containers(here, tmp_path, LIMITS, str(tmp_path))
    engine(tmp_path, "docker", f"{2**29}\nv2\n")
    assert find_containers(here, tmp_path, LIMITS, str(tmp_path)).kind == "v2"
    free = Limits(cores=(0,), cpus=1, memory_bytes=None)
    assert not any(flag.startswith("--memory") for flag in free.flags)


@pytest.mark.live
def test_without_an_engine_it_is_said_what_to_install_or_choose(here: Here, tmp_path: Path) -> None:
    with pytest.raises(MachineError) as caught:
        find_containers(here, tmp_path, LIMITS, str(tmp_path))
    assert str(caught.value) == (
        "--way container needs a container engine, and neither podman nor docker is on PATH: install one (Debian: "
        "apt-get install podman), or choose another way: --way cgroup or bare"
    )


def test_the_page_of_ways_names_what_is_not_mounted_and_every_way() -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "fences.md").read_text(encoding="utf-8")
    assert f"| what is guaranteed | {' | '.join(WAYS)} |" in page
    hidden = module._NOT_MOUNTED - {"dev", "proc", "sys", "run", "tmp", "lost+found", "var"}
    assert all(f"`/{name}`" in page for name in hidden)
    assert "`/var` are not mounted; `/run`, `/tmp` and `/var/tmp` are its own" in page
    assert all(flag in page for flag in (module._AS_USER["podman"], "--user"))
