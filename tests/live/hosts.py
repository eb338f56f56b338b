"""Hosts that a test makes itself: network namespaces with an address each, and a Ray node in them."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from webdyno.rig.ledger import sweep

RAY = Path(sys.executable).with_name("ray")


def why_not() -> str | None:
    """One line why no such hosts can be made here."""
    if importlib.util.find_spec("ray") is None or not RAY.exists():
        return "Ray is not installed (the extra far)"
    if lacking := [name for name in ("ip", "nsenter", "taskset", "unshare") if not shutil.which(name)]:
        return f"{', '.join(lacking)}: not installed"
    if len(os.sched_getaffinity(0)) < 2:
        return "two hosts need two cores"
    name = f"wd{secrets.token_hex(3)}"
    if subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False).returncode:
        return "network namespaces are forbidden here"
    pair = ["ip", "link", "add", "veth0", "netns", name, "type", "veth", "peer", "name", "veth1", "netns", name]
    made = subprocess.run(pair, capture_output=True, check=False).returncode
    subprocess.run(["ip", "netns", "del", name], check=True)
    return "no veth can be made here" if made else None


class Made:
    """One host: a namespace, an address, a core, and folders that no other has."""

    def __init__(self, number: int, core: int, folder: Path, token: str | None) -> None:
        self.name, self.address, self.core = f"wd{os.getpid()}x{number}", f"10.77.5.{number}", core
        self.folder = folder / str(number)
        for name in ("lock", "cache", "tmp"):
            (self.folder / name).mkdir(parents=True)
        self.environment = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(sys.path),
            "HOME": str(self.folder),
            "WEBDYNO_LOCK": str(self.folder / "lock"),
            "WEBDYNO_CACHE": str(self.folder / "cache"),
            "TMPDIR": str(self.folder / "tmp"),
            **({"RAY_AUTH_MODE": "disabled"} if token is None else {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token}),
        }
        ip("netns", "add", self.name)
        ip("-n", self.name, "link", "set", "lo", "up")

    ahead_s = 0
    """Of its monotonic clock, before ours."""
    cache_at: Path | None = None
    """Where it sees its cache, as machines do that are set up alike; None: at the path that it really has."""

    def command(self, *argv: str) -> list[str]:
        later = ["unshare", "--time", "--monotonic", str(self.ahead_s)] if self.ahead_s else []
        bind = 'mount --bind "$0" "$1" && shift && exec "$@"'
        alike = ["unshare", "--mount", "sh", "-c", bind, str(self.folder / "cache"), str(self.cache_at)]
        inside = ["nsenter", f"--net=/run/netns/{self.name}", *(alike if self.cache_at else [])]
        return [*later, *inside, "taskset", "-c", str(self.core), *argv]

    def set_up_like(self, others: Path) -> None:
        """It keeps its builds where the others keep theirs."""
        others.mkdir(exist_ok=True)
        self.cache_at, self.environment["WEBDYNO_CACHE"] = others, str(others)

    def cut(self) -> None:
        """Pull its cable."""
        ip("-n", self.name, "link", "set", "cable", "down")

    def join(self) -> None:
        """Plug it in again."""
        ip("-n", self.name, "link", "set", "cable", "up")

    def disturb(self, *netem: str) -> str | None:
        """Let its network do this (tc-netem) to what it sends; why not, where it cannot."""
        tc = ["nsenter", f"--net=/run/netns/{self.name}", "tc", "qdisc", "replace", "dev", "cable", "root", "netem"]
        try:
            done = subprocess.run([*tc, *netem], capture_output=True, text=True, check=False)
        except FileNotFoundError as error:
            return str(error)
        return done.stderr.strip() or None if done.returncode else None

    def start(self, *argv: str, **added: str) -> subprocess.Popen[str]:
        pipe, environment = subprocess.PIPE, {**self.environment, **added}
        return subprocess.Popen(
            self.command(*argv), env=environment, cwd=self.folder, text=True, stdout=pipe, stderr=pipe
        )

    def run(self, *argv: str, **added: str) -> subprocess.CompletedProcess[str]:
        with self.start(*argv, **added) as process:
            out, err = process.communicate(timeout=120)
        return subprocess.CompletedProcess(argv, process.returncode, out, err)

    def ray(self, *argv: str) -> None:
        """Start a node of Ray, which stays behind."""
        given = ["--node-ip-address", self.address, "--disable-usage-stats", "--num-cpus", "1"]
        done = self.run(str(RAY), "start", *given, "--object-store-memory", "100000000", *argv)
        assert done.returncode == 0, done.stderr + done.stdout

    def lead(self) -> None:
        """Be the head of a cluster."""
        self.ray("--head", "--port", "6379", "--include-dashboard", "false", "--temp-dir", str(self.folder / "tmp"))

    def follow(self, head: Made) -> None:
        """Be another node of it, that loads may come from."""
        self.ray("--address", f"{head.address}:6379", "--resources", '{"webdyno_driver": 1}')

    def pids(self) -> list[int]:
        return [int(pid) for pid in ip("netns", "pids", self.name).split()]

    def kill(self) -> None:
        """As when its cable and its power are pulled."""
        while pids := self.pids():
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)

    def end(self) -> None:
        self.kill()
        sweep(self.folder / "cache" / "rig")  # cgroups of a webdyno that was killed
        ip("netns", "del", self.name)


def ip(*arguments: str) -> str:
    return subprocess.run(["ip", *arguments], capture_output=True, text=True, check=True).stdout


@contextlib.contextmanager
def hosts_joined(number: int, ahead_s: int = 0, *, alike: bool = False, **of_head: str) -> Iterator[list[Made]]:
    """A head and other nodes, with one token, each on a cable to a switch of the head's.

    ``ahead_s``: the monotonic clock of the last is so far ahead of the others'. ``alike``: their caches have one path.
    ``of_head``: what its environment has besides.
    """
    folder, token = Path(tempfile.mkdtemp(prefix="wd", dir="/tmp")), secrets.token_hex(16)
    cores = sorted(os.sched_getaffinity(0))
    with contextlib.ExitStack() as ending:
        ending.callback(shutil.rmtree, folder, ignore_errors=True)
        hosts: list[Made] = []
        for index in range(number):
            hosts.append(Made(index + 1, cores[min(index, len(cores) - 1)], folder, token))
            ending.callback(hosts[-1].end)
        head, *others = hosts
        ip("-n", head.name, "link", "add", "cable", "type", "bridge")
        for other in others:
            port = f"to{other.name[-1]}"
            ip("link", "add", port, "netns", head.name, "type", "veth", "peer", "name", "cable", "netns", other.name)
            ip("-n", head.name, "link", "set", port, "master", "cable", "up")
        for host in hosts:
            ip("-n", host.name, "addr", "add", f"{host.address}/24", "dev", "cable")
            ip("-n", host.name, "link", "set", "cable", "up")
        hosts[-1].ahead_s = ahead_s
        for host in hosts if alike else []:
            host.set_up_like(folder / "cache")
        head.environment.update(of_head)
        head.lead()
        for other in others:
            other.follow(head)
        yield hosts


@contextlib.contextmanager
def two_hosts() -> Iterator[tuple[Made, Made]]:
    """A head and one other node."""
    with hosts_joined(2) as (head, other):
        yield head, other


@contextlib.contextmanager
def open_host() -> Iterator[Made]:
    """A cluster of one node that asks nobody for a token."""
    folder = Path(tempfile.mkdtemp(prefix="wd", dir="/tmp"))
    host = Made(3, min(os.sched_getaffinity(0)), folder, None)
    try:
        ip("-n", host.name, "addr", "add", f"{host.address}/32", "dev", "lo")
        host.lead()
        yield host
    finally:
        host.end()
        shutil.rmtree(folder, ignore_errors=True)
