"""What an idle connection costs the engine in memory: resident size with many connections open, less that with few.

The connections are opened by an open pace that sends one request in a second, so they are idle. The kernel's own
memory (some kilobytes for a socket) is not the engine's and not in it. Many connections need more ports than one
address has, so they leave from several of 127.0.0.0/8, and more files than a process may have, so servers and threads
have some each.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import select
import signal
import socket
import subprocess
from pathlib import Path
from typing import Any

from bench import engine
from bench.build import PROFILES, build
from bench.table import table

_SERVERS = 4
_SOURCES = [f"127.0.0.{last}" for last in range(2, 6)]
_FEW = 2_000
_GOAL_BYTES = 256
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def listener(port: int) -> socket.socket:
    """One of several on the same port; the kernel deals connections over them."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    made.bind(("127.0.0.1", port))
    made.listen(4096)
    return made


def hold(listening: socket.socket) -> None:
    """A server that keeps every connection and answers whatever comes."""
    kept: dict[int, socket.socket] = {}
    with select.epoll() as events:
        events.register(listening, select.EPOLLIN)
        while True:
            for fd, _ in events.poll():
                if fd == listening.fileno():
                    peer, _address = listening.accept()
                    kept[peer.fileno()] = peer
                    events.register(peer, select.EPOLLIN)
                elif kept[fd].recv(4096):
                    kept[fd].send(_ANSWER)
                else:
                    kept.pop(fd).close()


def resident_bytes(program: Path, port: int, connections: int, threads: int) -> int:
    """VmRSS of the engine when all connections are open."""
    pace = {"kind": "constant", "rate_per_s": 1, "connections": connections, "max_connections": connections}
    changes: dict[str, Any] = {"schema": 3, "sources": _SOURCES, "threads": threads, "wait": "sleep"}
    asked = json.dumps(engine.order(port, pace, seconds=60, **changes))
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("a process that was asked for pipes has none")
        process.stdin.write(asked)
        process.stdin.close()
        for line in process.stdout:
            said = json.loads(line)
            if said["event"] == "fault":
                raise RuntimeError(said["message"])
            if said["event"] == "slice" and said["in_flight"] == 0 and said["connections_peak"] >= connections:
                status = Path(f"/proc/{process.pid}/status").read_text()
                process.send_signal(signal.SIGTERM)
                process.stdout.read()
                return 1024 * int(status.split("VmRSS:")[1].split()[0])
    raise RuntimeError(f"the engine ended before {connections} connections were open")


def measure(program: Path, numbers: list[int], threads: int) -> list[list[str]]:
    """A row for each number of connections."""
    sockets = [listener(0)]
    port = sockets[0].getsockname()[1]
    sockets += [listener(port) for _ in range(_SERVERS - 1)]
    servers = [multiprocessing.Process(target=hold, args=(one,), daemon=True) for one in sockets]
    for server in servers:
        server.start()
    for one in sockets:
        one.close()
    try:
        least = resident_bytes(program, port, _FEW, threads)
        rows = []
        for number in numbers:
            most = resident_bytes(program, port, number, threads)
            each = (most - least) / (number - _FEW)
            met = "yes" if each <= _GOAL_BYTES else "no"
            rows.append([f"{number:,}", str(threads), f"{most / 2**20:.1f}", f"{each:.0f}", met])
        return rows
    finally:
        for server in servers:
            server.terminate()
            server.join()


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m bench.memory", description=__doc__)
    parser.add_argument("--connections", type=int, nargs="+", default=[10_000, 50_000], help="how many")
    parser.add_argument("--threads", type=int, default=4, help="threads of load (default: 4)")
    parser.add_argument("--profile", choices=PROFILES, default="dist", help="Cargo profile of the engine")
    asked = parser.parse_args()
    program = build(asked.profile).engine
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    heads = ["connections", "threads", "MiB in all", "bytes each", f"at most {_GOAL_BYTES}"]
    print("\n".join(table(heads, measure(program, asked.connections, asked.threads))))


if __name__ == "__main__":
    main()
