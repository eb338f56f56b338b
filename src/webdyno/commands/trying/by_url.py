"""``webdyno try --url``: what can be typed with it, and what is said of a server that runs already."""

from __future__ import annotations

from webdyno.analyse import words
from webdyno.commands.printing import out, say_json
from webdyno.commands.trying.asking import AppAsking
from webdyno.commands.trying.flags import Trying
from webdyno.model.errors import UsageError
from webdyno.session.tryout.by_url import LEAST_S, ROUNDS, WARMUP_S, Told, load_url, seconds_each


def try_url(url: str, asking: AppAsking, flags: Trying) -> int:
    """Load it and say how it answered; exit code 1 when no request was answered correctly."""
    if flags.save is not None or flags.servers is not None or flags.variables or flags.python is not None:
        raise UsageError(
            "--url takes only --path, -H, -m, -b, --expect, -c, --budget and --json: webdyno does not start that server"
        )
    if asking.openapi:
        raise UsageError(
            "--openapi needs an application; for a server that is already running, give its paths with --path"
        )
    targets = asking.targets_below(url)
    requests, each_s = asking.requests_at(targets), seconds_each(flags.budget_s)
    if each_s is None:
        raise UsageError(f"--budget {flags.budget}: {ROUNDS} rounds take at least {ROUNDS * (WARMUP_S + LEAST_S):g} s")
    told = load_url(url, targets[0], requests, flags.connections, each_s, is_unsaid=asking.expect is None)
    if flags.json:
        say_json(told)
    else:
        _tell(told)
    return 0 if told.rate is not None else 1


def _tell(told: Told) -> None:
    if told.rate is None or told.p99_ns is None or told.p50_ns is None:
        out(f"{told.url}: no request was answered correctly ({told.errors or 'no answer'})")
        return
    errors = words.listing([f"{count} {kind}" for kind, count in told.errors.items()]) or "no errors"
    out(
        f"{told.url}: {words.with_interval(told.rate, 'requests/s')} with {words.count(told.connections, 'client')}; "
        f"p50 {words.time_ns(told.p50_ns)}, p99 {words.time_ns(told.p99_ns)}; {errors}"
    )
    for doubt in told.doubts:
        out(f"  doubt: {doubt}")
