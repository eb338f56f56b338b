"""``--image``: container images as servers, run by the engine this machine has (podman, else docker).

A container is a setting like any command: the client of the engine in the foreground, with the network of the machine
(nothing is translated between load and server), the contender's cores, and as many open files as every other server
gets. The image listens where ``--container-port`` or its one exposed port says, and is told so in PORT as well; with
neither, on a port that only PORT says. Variables are handed on by name: no value of one stands in a command line.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from webdyno.model.built import Built
from webdyno.model.contender import Contender
from webdyno.model.errors import MachineError, UsageError
from webdyno.model.rig import Rig
from webdyno.rig.engines import ANSWER_S, LABEL, Answered, Ask, Engine, find_engines, ulimits
from webdyno.rig.here import Here
from webdyno.rig.host import Command
from webdyno.rig.process import MARK
from webdyno.session.interrupts import ended
from webdyno.session.tryout.fitting import Setting

_STOP_S = 3.0
"""Until a container that does not heed SIGTERM is killed: as process 1 many do not."""


@dataclass(frozen=True, kw_only=True)
class Image:
    """An image that this machine has. ``port``: the one it listens on, None where only PORT says it."""

    name: str
    id: str
    digest: str
    port: int | None
    engine: Engine

    @property
    def versions(self) -> dict[str, str]:
        """For the record of its Runs."""
        digest = {"image digest": self.digest} if self.digest else {}
        return {"image": self.name, "image id": self.id, **digest, self.engine.name: self.engine.version}


def asking(host: Here, interrupted: threading.Event) -> Ask:
    """What runs one command of an engine with the user's environment. KeyboardInterrupt, StartError, MachineError."""

    def ask(argv: Sequence[str], within_s: float | None = ANSWER_S) -> Answered:
        home = host.folder()
        out, err = home / "out", home / "err"
        command = Command(argv=list(argv), cwd=Path.cwd(), environment=dict(os.environ), role="tool", stdout=out)
        try:
            with host.start(msgspec.structs.replace(command, stderr=err)) as group:
                if (status := ended(group, interrupted, within_s)) is None:
                    raise MachineError(f"{' '.join(argv[:2])} did not answer within {within_s:g} s: does it hang?")
            return Answered(status, _text(out), _text(err))
        finally:
            host.drop(home)

    return ask


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def images_of(
    names: Sequence[str], port: int | None, ask: Ask, say: Callable[[str], None], path: str | None = None
) -> list[Image]:
    """Every image, pulled if it is not here. MachineError without an engine, UsageError for an image nobody has."""
    engines = find_engines(ask, path)
    for engine in engines:
        facts = [_inspected(engine, name) for name in names]
        if None not in facts:
            break
    else:
        engine = engines[0]
    return [_image(engine, name, _inspected(engine, name) or _pulled(engine, name, say), port) for name in names]


def _inspected(engine: Engine, name: str) -> dict[str, Any] | None:
    """What the engine knows of an image; None: it does not have it."""
    answer = engine.ask([engine.program, "image", "inspect", name])
    if answer.status != 0:
        return None
    try:
        told = msgspec.json.decode(answer.out, type=list[dict[str, Any]])
    except msgspec.DecodeError:
        raise MachineError(f"{engine.program} image inspect {name}: it did not answer with JSON") from None
    return told[0] if told else None


def _pulled(engine: Engine, name: str, say: Callable[[str], None]) -> dict[str, Any]:
    say(f"{name} is not here: {engine.name} pulls it")
    answer = engine.ask([engine.program, "pull", name], None)  # downloads take their time
    facts = _inspected(engine, name) if answer.status == 0 else None
    if facts is None:
        raise UsageError(f"--image {name}: it is not on this machine, and {engine.name} cannot get it: {answer.last}")
    return facts


def _image(engine: Engine, name: str, facts: Mapping[str, Any], port: int | None) -> Image:
    digests = facts.get("RepoDigests") or []
    digest = facts.get("Digest") or (digests[0].rpartition("@")[2] if digests else "")
    id_ = str(facts.get("Id", ""))
    return Image(
        name=name,
        id=id_ if ":" in id_ else f"sha256:{id_}",
        digest=str(digest),
        port=_exposed(facts) if port is None else port,
        engine=engine,
    )


def _exposed(facts: Mapping[str, Any]) -> int | None:
    """The one TCP port it exposes; None for none, or for several."""
    ports = (facts.get("Config") or {}).get("ExposedPorts") or {}
    numbers = [text.partition("/")[0] for text in ports if text.partition("/")[2] in ("", "tcp")]
    return int(numbers[0]) if len(numbers) == 1 and numbers[0].isdecimal() else None


def image_setting(image: Image, name: str, variables: Mapping[str, str], rig: Rig, token: str) -> Setting:
    """The image as a setting, under ``name``."""
    port = "{port}" if image.port is None else str(image.port)
    words = [image.engine.program, "run", "--rm", "--pull=never", "--network=host", "--log-driver=none"]
    words += [f"--label={LABEL}={token}", f"--cpuset-cpus={','.join(map(str, rig.contender_cores))}"]
    words += ulimits()
    if rig.memory_bytes is not None:
        words += [f"--memory={rig.memory_bytes}", f"--memory-swap={rig.memory_bytes}"]
    words += [f"--env={MARK}", f"--env=PORT={port}", *(f"--env={each}" for each in variables if each != "PORT")]
    contender = Contender(
        name=name,
        app="own",
        runtime="own",
        server=image.name,
        model="as its image says",
        serve=[*words, image.name],
        workers=len(rig.contender_cores),
        because=image.name,
        author="you",
        ready_s=60.0,
        stop_s=_STOP_S,
    )
    return Setting(contender, name, None, None, recommended=True, is_command=True)


def image_built(image: Image, setting: Setting, folder: Path, environment: Mapping[str, str]) -> Built:
    """What there is to serve: the client of the engine with the user's environment, which it takes variables from."""
    key = hashlib.sha256(repr((setting.contender.serve, image.id)).encode()).hexdigest()[:24]
    return Built(
        contender=setting.name,
        key=key,
        directory=str(folder),
        environment=dict(environment),
        versions=image.versions,
        log="",
        seconds=0.0,
        contained=True,
        port=image.port,
    )


def image_command(image: Image, variables: Mapping[str, str], port: int) -> list[str]:
    """The container as a user starts it: on a port of this machine's loopback, without what only measuring needs."""
    inside = image.port or port
    words = [image.engine.name, "run", "--rm", f"--publish=127.0.0.1:{port}:{inside}", f"--env=PORT={inside}"]
    return [*words, *(f"--env={each}" for each in variables if each != "PORT"), image.name]
