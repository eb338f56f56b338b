"""``--image``: what is asked of an engine, what is made of its answers, and what is refused."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.rig.strapping import here
from webdyno.commands import call
from webdyno.commands.trying.flags import Trying
from webdyno.model.errors import MachineError, UsageError
from webdyno.model.placeholder import fill
from webdyno.model.rig import Rig
from webdyno.rig.engines import Answered, find_engines
from webdyno.rig.here import Here
from webdyno.rig.process import all_stats, mark_of
from webdyno.session.tryout.copying import image_to_copy
from webdyno.session.tryout.image import (
    Image,
    asking,
    image_built,
    image_setting,
    images_of,
)

__all__ = ["here"]

RIG = Rig(
    contender_cores=(0, 2), driver_cores=(1,), control_cores=(1,), service_cores=(), memory_bytes=None, cgroup="v1"
)
MINE = {"Id": "ab" * 32, "Digest": "sha256:" + "cd" * 32, "Config": {"ExposedPorts": {"8080/tcp": {}, "53/udp": {}}}}
ENGINE = r"""#!/bin/sh
echo "$0 $*" >> "$0.calls"
[ -e "$0.hangs" ] && exec sleep 60
case "$1 $2" in
"version --format") [ -e "$0.down" ] && { echo "warning" >&2; echo "Cannot connect to the daemon." >&2; exit 1; }
    echo 4.3.1;;
"image inspect") [ -e "$0.d/$3" ] || { echo "Error: $3: image not known" >&2; exit 125; }; cat "$0.d/$3";;
ps*) [ "$5" = "label=webdyno=t0" ] && echo "left1\nleft2"
    [ "$5" = "label=webdyno" ] && echo "left1\nleft2\nolder";;
pull*) [ "$2" = "far:1" ] || { echo "Trying to pull $2..." >&2; echo "Error: no such registry" >&2; exit 125; }
    cp "$0.d/mine:1" "$0.d/far:1";;
esac
"""


class Engines:
    """Fake programs called podman and docker, which know the images given to them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said: list[str] = []
        self.limits: list[tuple[str, float | None]] = []

    def add(self, name: str, *, up: bool = True, **images: dict[str, Any]) -> None:
        program = self.folder / name
        program.write_text(ENGINE)
        program.chmod(0o755)
        (self.folder / f"{name}.d").mkdir()
        if not up:
            (self.folder / f"{name}.down").touch()
        for image, facts in images.items():
            (self.folder / f"{name}.d" / f"{image}:1").write_text(json.dumps([facts]))

    def ask(self, argv: Sequence[str], within_s: float | None = 30.0) -> Answered:
        self.limits.append((argv[1], within_s))
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        return Answered(done.returncode, done.stdout, done.stderr)

    def images(self, *names: str, port: int | None = None) -> list[Image]:
        return images_of(names, port, self.ask, self.said.append, str(self.folder))


@pytest.fixture
def engines(tmp_path: Path) -> Engines:
    return Engines(tmp_path)


def test_what_an_image_is_comes_from_the_engine(engines: Engines) -> None:
    engines.add("podman", mine=MINE)
    (image,) = engines.images("mine:1")
    assert (image.name, image.port, image.engine.name) == ("mine:1", 8080, "podman")
    assert image.versions == {
        "image": "mine:1",
        "image id": "sha256:" + "ab" * 32,
        "image digest": "sha256:" + "cd" * 32,
        "podman": "4.3.1",
    }
    assert engines.said == []


def test_the_digest_may_stand_in_the_name_of_a_repository(engines: Engines) -> None:
    told = {"Id": "sha256:ab", "RepoDigests": ["ghcr.io/me/mine@sha256:ef"], "Config": {"ExposedPorts": None}}
    engines.add("docker", mine=told, theirs={"Id": "sha256:ab", "Config": None})
    first, second = engines.images("mine:1", "theirs:1")
    assert (first.id, first.digest, first.port) == ("sha256:ab", "sha256:ef", None)
    assert "image digest" not in second.versions


@pytest.mark.parametrize(
    ("exposed", "port"), [({}, None), ({"80/tcp": {}, "443/tcp": {}}, None), ({"80": {}}, 80), ({"53/udp": {}}, None)]
)
def test_one_exposed_port_is_where_it_listens(engines: Engines, exposed: dict[str, Any], port: int | None) -> None:
    engines.add("podman", mine={**MINE, "Config": {"ExposedPorts": exposed}})
    assert engines.images("mine:1")[0].port == port
    assert engines.images("mine:1", port=3000)[0].port == 3000


def test_the_engine_that_has_the_images_is_taken_before_anything_is_pulled(engines: Engines) -> None:
    engines.add("podman")
    engines.add("docker", mine=MINE)
    assert engines.images("mine:1")[0].engine.name == "docker"
    assert "pull" not in (engines.folder / "podman.calls").read_text()


def test_an_image_that_is_not_here_is_pulled_and_that_is_said(engines: Engines) -> None:
    engines.add("podman", mine=MINE)
    assert [image.port for image in engines.images("mine:1", "far:1")] == [8080, 8080]
    assert engines.said == ["far:1 is not here: podman pulls it"]
    assert [limit for what, limit in engines.limits if what == "pull"] == [None]
    assert {limit for what, limit in engines.limits if what != "pull"} == {30.0}


def test_an_image_nobody_has_is_one_sentence_with_the_last_of_what_the_engine_said(engines: Engines) -> None:
    engines.add("podman")
    with pytest.raises(UsageError) as caught:
        engines.images("nowhere:1")
    assert str(caught.value) == (
        "--image nowhere:1: it is not on this machine, and podman cannot get it: Error: no such registry"
    )


def test_without_an_engine_it_is_said_what_to_install(engines: Engines) -> None:
    with pytest.raises(MachineError, match=r"neither podman nor docker is on PATH: .*apt-get install podman"):
        find_engines(engines.ask, str(engines.folder))
    engines.add("docker", up=False)
    with pytest.raises(MachineError, match=r"that works: docker: Cannot connect to the daemon\.; install"):
        find_engines(engines.ask, str(engines.folder))
    engines.add("podman")
    assert [engine.name for engine in find_engines(engines.ask, str(engines.folder))] == ["podman"]


@pytest.mark.live
def test_an_engine_that_hangs_is_given_up_and_ended(engines: Engines, here: Here) -> None:
    engines.add("podman")
    ask, program = asking(here, threading.Event()), str(engines.folder / "podman")
    assert ask([program, "version", "--format", "x"]).out == "4.3.1\n"
    (engines.folder / "podman.hangs").touch()
    with pytest.raises(MachineError, match=r"podman version did not answer within 0\.2 s: does it hang\?"):
        ask([program, "version", "--format", "x"], 0.2)
    assert not any((mark_of(pid) or "").startswith(here.token) for pid in all_stats())


def test_an_engine_that_hangs_does_not_keep_another_from_being_used(engines: Engines) -> None:
    engines.add("podman")
    engines.add("docker")

    def ask(argv: Sequence[str], within_s: float | None = None) -> Answered:
        if argv[0].endswith("podman"):
            raise MachineError("podman version did not answer within 30 s")
        return engines.ask(argv, within_s)

    assert [engine.name for engine in find_engines(ask, str(engines.folder))] == ["docker"]


def test_a_container_gets_the_rigs_cores_its_port_and_the_names_of_variables_only(engines: Engines) -> None:
    engines.add("podman", mine=MINE)
    (image,) = engines.images("mine:1")
    variables = {"SECRET": "open sesame", "PORT": "99"}
    setting = image_setting(image, "image", variables, msgspec.structs.replace(RIG, memory_bytes=2**29), "t0")
    words = setting.contender.serve
    assert words[0] == str(engines.folder / "podman")
    assert words[-1] == "mine:1"
    assert {"--rm", "--network=host", "--cpuset-cpus=0,2", "--env=WEBDYNO_RIG", "--env=PORT=8080", "--env=SECRET"} < {
        *words
    }
    assert {"--memory=536870912", "--memory-swap=536870912"} < {*words}
    assert "sesame" not in " ".join(words)
    assert "--label=webdyno=t0" in words
    assert not any(word.startswith("--memory") for word in image_setting(image, "image", {}, RIG, "t0").contender.serve)
    built = image_built(image, setting, Path("/"), {"SECRET": "open sesame"})
    assert (built.contained, built.port, built.versions) == (True, 8080, image.versions)


def test_what_an_engine_keeps_is_removed_at_first_of_anybody_and_at_last_of_the_sitting(engines: Engines) -> None:
    engines.add("podman", mine=MINE)
    engine = engines.images("mine:1")[0].engine
    calls = engines.folder / "podman.calls"
    engine.clear()
    assert calls.read_text().endswith("rm --force left1 left2 older\n")  # running too
    engine.remove("t0")
    assert calls.read_text().endswith("rm --force left1 left2\n")


def test_without_a_port_of_its_own_it_is_told_one(engines: Engines) -> None:
    engines.add("podman", mine={**MINE, "Config": {}})
    (image,) = engines.images("mine:1")
    setting = image_setting(image, "image", {}, RIG, "t0")
    assert "--env=PORT=1234" in fill(setting.contender.serve, host="::1", port=1234, workers=1, threads=1, cores=1)
    assert image_built(image, setting, Path("/"), {}).port is None
    copied = image_to_copy(image, {"SECRET": "x"})
    assert copied.command == "podman run --rm --publish=127.0.0.1:8000:8000 --env=PORT=8000 --env=SECRET mine:1"
    assert (copied.systemd, copied.dockerfile, copied.procfile) == ("", "", "")


def test_variables_are_taken_as_they_stand_over_those_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "env").write_text("A=1\nB=2\n")
    assert Trying(env_file=tmp_path / "env", env=["B=x=y z", "C="]).variables == {"A": "1", "B": "x=y z", "C": ""}


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("try app:app --image mine:1", "--image compares images with each other (--image mine:1 --image mine:2) and"),
        ("try --cmd serve{port} --image mine:1", "--image compares images with each other"),
        ("try --url http://a --image mine:1", "--image compares images with each other"),
        ("try --image --privileged", "--image needs a value: A container image"),
        ("try --image=-v", "--image -v: name an image, such as --image mine:1 or --image ghcr.io/me/mine:1"),
        ("try --image mine:{port}", "--image mine:{port}: name an image"),
        ("try --image a --image a", "--image: the same image is named twice"),
        ("try --cmd serve{port} --container-port 80", "--container-port is the port of the server in an --image"),
        ("try --image a --container-port 0", "--container-port 0: give a port from 1 to 65535"),
        ("try --image a --env secret-with-a-typo", "--env secret-with-a-typo: write NAME=value"),
        ("try --image a -k granian", "--server selects servers of the catalogue for an application"),
        ("try --url http://127.0.0.1:1 --env A=b", "--url takes only --path, -H, -m, -b, --expect"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(
    line: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(line.split()) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"webdyno: {sentence}")
    assert said.count("\n") == 1
