"""Record the golden outputs of the real tools again: ``PYTHONPATH=src python -m tests.load.record [DRIVER]``.

Writes tests/golden/DRIVER/NAME.txt (what the tool said) and NAME.order.json (what it was asked). The expected events
beside them are written by the tests, with WEBDYNO_GOLDEN=rewrite, and reviewed like code.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

import msgspec

from tests.load.odd_server import BODY, OddServer
from webdyno.load.driver import DRIVERS, DriverCommand, Order
from webdyno.model.load import Load
from webdyno.model.workload import Expectation, Request

GOLDEN = Path(__file__).parent.parent / "golden"
PORT = 18080
REFUSED = 18079
TIMED = Load(connections=4, duration_s=1, warmup_s=0, timeout_s=1)
COUNTED = Load(connections=4, count=1000, warmup_s=0, timeout_s=1)
FEW = Load(connections=4, count=300, warmup_s=0, timeout_s=1)
RATED = Load(connections=4, rate_per_s=200, max_connections=4, duration_s=2, warmup_s=0, timeout_s=1)
LOGGING = ("h2load", "jmeter")
"""Their outputs have a line per request."""
PATHS = ("ok", "error", "errors-some", "silent-close", "announced-close", "until-close", "reset", "truncated", "empty")


def orders(driver: str) -> dict[str, Order]:
    """What to record, by name."""
    load = TIMED if driver == "wrk" else RATED if driver == "wrk2" else FEW if driver in LOGGING else COUNTED
    closing = msgspec.structs.replace(load, keep_alive=False)
    longer = RATED if driver == "wrk2" else msgspec.structs.replace(TIMED, duration_s=2)
    found = {path: _order(path, load) for path in PATHS}
    if driver == "h2load":
        found |= {f"{path}.timed": _order(path, TIMED) for path in ("silent-close", "until-close", "reset", "empty")}
        found["refused.timed"] = _order("ok", TIMED, port=REFUSED)
    found |= {f"{path}.close": _order(path, closing) for path in ("ok", "reset")}
    found["silence"] = _order("silence", TIMED if driver == "h2load" else load)
    found["slow"] = _order("slow", longer)
    found["refused"] = _order("ok", load, port=REFUSED)
    found["ipv6"] = _order("ok", load, host="::1")
    if driver == "engine":
        found["timed"] = _order("ok", msgspec.structs.replace(longer, warmup_s=0.5))
        even = Load(connections=4, rate_per_s=1000, max_connections=50, duration_s=1, warmup_s=0, timeout_s=1)
        found["open"] = _order("ok", even)
        found["open-silence"] = _order("silence", msgspec.structs.replace(even, max_connections=4))
    if driver in ("engine", "jmeter"):
        found["wrong-body"] = _order("ok", load, expect=Expectation(body="Hello!"))
    if driver == "ab":
        found["timed"] = _order("ok", TIMED)
        found["any-length"] = _order("truncated", load, expect=Expectation())
        found["head"] = _order("ok", load, method="HEAD")
    if driver in ("h2load", "oha", "jmeter"):
        found["timed"] = _order("paced", msgspec.structs.replace(longer, warmup_s=0.5))
    if driver != "ab":
        found["post"] = _order("ok", load, method="POST", body="name=value")
    return found


def _order(
    path: str,
    load: Load,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    method: str = "GET",
    body: str | None = None,
    expect: Expectation | None = None,
) -> Order:
    expect = expect or Expectation(body=BODY.decode())
    request = Request(name=path, path=f"/{path}", method=method, body=body, expect=expect)
    return Order(host=host, port=port, requests=[request], load=load, cores=(0,))


async def record(name: str) -> None:
    driver = DRIVERS[name]()
    folder = GOLDEN / name
    folder.mkdir(parents=True, exist_ok=True)
    for case, order in orders(name).items():
        servers = await OddServer().listen(PORT)
        with tempfile.TemporaryDirectory() as started_in:
            said = await run(driver.commands(order)[-1], Path(started_in))
        for server in servers:
            server.close()
        (folder / f"{case}.txt").write_bytes(said)
        (folder / f"{case}.order.json").write_bytes(msgspec.json.format(msgspec.json.encode(order)) + b"\n")
        print(name, case, len(said))


async def run(command: DriverCommand, folder: Path) -> bytes:
    """What the tool printed, and then what it wrote into its results: as a driver is handed it."""
    for file, content in command.files.items():
        (folder / file).write_bytes(content)
    process = await asyncio.create_subprocess_exec(
        *command.argv,
        cwd=folder,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT if command.merge_stderr else None,
        env=command.environment,
    )
    said, _ = await process.communicate(command.stdin or b"")
    results = folder / command.results if command.results else None
    return said + (results.read_bytes() if results and results.exists() else b"")


if __name__ == "__main__":
    for chosen in sys.argv[1:] or DRIVERS:
        asyncio.run(record(chosen))
