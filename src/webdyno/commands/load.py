"""``webdyno load``: put load on a running server, as wrk, wrk2, ab, oha and hey do."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from msgspec.structs import replace

from webdyno.analyse.objectives import Course, missed
from webdyno.commands.loading.pacing import Pacing
from webdyno.commands.loading.speaking import Speaking, refuse_near, refuse_unshared
from webdyno.commands.loading.style_ab import ab_lines
from webdyno.commands.loading.style_oha import oha_lines
from webdyno.commands.loading.style_wrk import wrk2_lines, wrk_lines
from webdyno.commands.loading.summary import as_data, print_summary, route_lines
from webdyno.commands.loading.table import csv_lines, refuse_unwritable, write_hdr
from webdyno.commands.loading.targets import Asking
from webdyno.commands.loading.watching import watching
from webdyno.commands.options import JsonOption, flag
from webdyno.commands.placing import Placing
from webdyno.commands.printing import err, give, out, say_json
from webdyno.commands.slo import objectives
from webdyno.load.driver import Order
from webdyno.model.errors import ContenderError, UsageError
from webdyno.model.load import Load
from webdyno.model.place import Cluster
from webdyno.model.rig import Fingerprint
from webdyno.model.secret import hidden_line
from webdyno.rig.far import FarHost
from webdyno.rig.fingerprint import read_fingerprint
from webdyno.session import folders
from webdyno.session.by_url import keep_load
from webdyno.session.ceilings import known_ceiling
from webdyno.session.engine import Loaded, carry_out
from webdyno.session.folders import cache_folder
from webdyno.session.load_doubts import doubts
from webdyno.session.odd_answers import odd_answer
from webdyno.session.saying import say
from webdyno.session.target import Target, one_server

Style = Literal["wrk", "wrk2", "ab", "oha"]
STYLES: dict[str, Callable[[str, Loaded], Iterator[str]]] = {
    "wrk": wrk_lines,
    "wrk2": wrk2_lines,
    "ab": ab_lines,
    "oha": oha_lines,
}


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Saying:
    """The flags that say how the result is told."""

    slo: Annotated[
        str | None, flag("--slo", help="Objectives; exit code 1 if missed: 'p99<50ms, errors<0.1%, rate>5000'.")
    ] = None
    json: JsonOption = False
    csv: Annotated[bool, flag("--csv", help="One row per second as CSV, instead of the summary.")] = False
    style: Annotated[
        Style | None, flag("--style", help="Print in the format of this tool, for scripts that read it.")
    ] = None
    hdr: Annotated[Path | None, flag("--hdr", help="Also write a histogram log of the response times here.")] = None
    results: Annotated[
        Path | None,
        flag("--results", help="Also keep the results, in a new folder inside this one, for report and view."),
    ] = None
    quiet: Annotated[bool, flag("--quiet", "-q", help="Show no progress.")] = False

    def check(self) -> None:
        """One form at a time."""
        given = {"--json": self.json, "--csv": self.csv, "--style": self.style is not None}
        named = [name for name, value in given.items() if value]
        if len(named) > 1:
            raise UsageError(f"{' and '.join(named)} exclude each other: the result has one format")

    def refuse_unwritable(self) -> None:
        """UsageError, MachineError where a file or folder that is asked for cannot be written."""
        if self.hdr is not None:
            refuse_unwritable(self.hdr)
        if self.results is not None:
            folders.refuse_unwritable(self.results)

    @property
    def is_drawn(self) -> bool:
        """While it runs."""
        return not (self.quiet or self.json or self.csv or self.style)


# As nothing was typed.
_ASKING, _PACING, _SPEAKING, _SAYING, _PLACING = Asking(), Pacing(), Speaking(), Saying(), Placing()


def load(
    *urls: Annotated[
        str,
        Parameter(
            help="What to load: http://host[:port]/path, or https://. URLs of one server are mixed; 3=URL is requested "
            "three times as often."
        ),
    ],
    asking: Asking = _ASKING,
    pacing: Pacing = _PACING,
    speaking: Speaking = _SPEAKING,
    placing: Placing = _PLACING,
    saying: Saying = _SAYING,
) -> int:
    """Load a server and report how it answered: by looping clients (closed), or on a fixed schedule (open).

    In a closed load, clients wait for an answer before their next request. At a rate, latency counts from the moment a
    request was due, so a stall cannot hide. One run has no interval: repeat it. Status 200-399 is correct, unless
    --expect says otherwise. Exit code 1: nothing was answered correctly, or --slo was missed. Ctrl-C keeps what it has.

    Example: `webdyno load http://127.0.0.1:8000/ -c 64 -d 10s`, `webdyno load http://127.0.0.1:8000/ -r 5000 --slo
    'p99<50ms'` or `webdyno load 9=http://127.0.0.1:8000/ 1=http://127.0.0.1:8000/report --stages '10s:100-2000'`
    """
    saying.check()
    wanted, order = objectives(saying.slo or ""), _order(urls, asking, pacing, speaking)
    if (cluster := placing.cluster) is not None:
        refuse_near(order.host, speaking)
    saying.refuse_unwritable()
    title, shown = _titled(urls)
    before = None if saying.results is None else read_fingerprint()
    with _hosts(cluster, order) as far, watching(title, order.load, quiet=not saying.is_drawn) as watch:
        loaded = carry_out(order, watch, far=far, keep_on_interrupt=True)
    if loaded.summary.get("ended") == "unreachable" and not saying.json:
        raise _unreached(title, loaded)
    failed = missed(wanted, Course(loaded.summary, loaded.slices, order.load))
    notes = [f"the answer: {odd}"] if (odd := odd_answer(loaded)) else []
    about = doubts(loaded, None if cluster else known_ceiling(cache_folder(), order))
    _say(title, shown, loaded, [*notes, *about], failed, saying)
    _keep(title, one_server(urls)[0], loaded, notes, before, saying)
    return _code(loaded, failed)


def _titled(urls: Sequence[str]) -> tuple[str, list[str]]:
    """What the load is called, and its URLs as they may be shown."""
    shown = [hidden_line(url) for url in urls]
    return shown[0] + (f" and {len(urls) - 1} more" if len(urls) > 1 else ""), shown


def _code(loaded: Loaded, failed: list[str]) -> int:
    if loaded.summary.get("ended") in ("interrupted", "abandoned"):
        return 128 + signal.SIGINT
    return 0 if loaded.ok and not failed else 1


@contextmanager
def _hosts(cluster: Cluster | None, order: Order) -> Iterator[list[FarHost]]:
    """Where the engines are started; none: here."""
    if cluster is None:
        yield []
        return
    from webdyno.session.far import hosts_of_load

    with hosts_of_load(replace(cluster, hosts=order.load.drivers)) as far:
        yield far


def _keep(
    title: str, target: Target, loaded: Loaded, notes: list[str], before: Fingerprint | None, saying: Saying
) -> None:
    """After it was told: a disk that is full must not cost the answer."""
    if saying.hdr is not None:
        write_hdr(saying.hdr, title, loaded)
    if saying.results is not None and before is not None:
        say(f"Results: {keep_load(saying.results, target, before, loaded, notes)}")


def _unreached(title: str, loaded: Loaded) -> ContenderError:
    """There are no figures of what never took a connection."""
    why = loaded.summary.get("first_error") or "no connection was made"
    hint = "; nothing listens there: start the server first" if loaded.errors.get("connect-refused") else ""
    return ContenderError(f"{title} cannot be reached: {why}{hint}")


def _order(urls: tuple[str, ...], asking: Asking, pacing: Pacing, speaking: Speaking) -> Order:
    targets = one_server(urls)
    first = targets[0]
    requests = asking.requests(targets)
    fields = pacing.pace(template=asking.template) | speaking.manner()
    refuse_unshared(fields)
    return Order(
        host=first.host,
        port=first.port,
        requests=requests,
        load=Load(**fields),
        cores=speaking.cores(),
        threads=speaking.threads,
        connect_timeout_s=pacing.connect_timeout_s,
        way=speaking.way(tls=first.tls, template=asking.template, seed=pacing.seed),
    )


def _say(title: str, urls: list[str], loaded: Loaded, found: list[str], failed: list[str], saying: Saying) -> None:
    if saying.json:
        say_json(as_data(urls, loaded, found) | {"slo_missed": failed})
        return
    if saying.csv or saying.style:
        lines = csv_lines(loaded) if saying.csv else (f"{line}\n" for line in STYLES[saying.style or ""](title, loaded))
        give(lines)
        # The form has no room for them, and who reads it by a script must not stumble over them.
        for sentence in [*route_lines(loaded), *found, *failed]:
            err(f"webdyno: {sentence}")
        return
    print_summary(title, loaded, found)
    for sentence in failed:
        out(f"  {'slo':<12}{sentence}")
