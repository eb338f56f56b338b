"""What has to be as it was for a tryout to go on, beside its files."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from webdyno.model.errors import UsageError
from webdyno.model.trial import Skipped
from webdyno.model.tried import Outset, Sources
from webdyno.session.tryout.asked import refuse_changed_builds

WAS = Outset(
    ready_s=0.1,
    slowest_s=0.1,
    alone_s=0.1,
    notes=[],
    compilers=[],
    memory_bytes=None,
    profiles=False,
    token="t0",
    built={"waitress-4t": "k1", "cmd": "k2"},
    packages={"Python": "3.11.7", "flask": "3.1.0"},
    sources=Sources(),
)


@pytest.mark.parametrize(
    ("built", "packages", "says"),
    [
        ({"waitress-4t": "k1", "cmd": "k3"}, WAS.packages, "what is served has changed since the start: cmd; restore"),
        (
            {"cmd": "k2"},
            WAS.packages,
            r"what is served has changed since the start: waitress-4t \(no network\); restore it, or start over",
        ),
        ({**WAS.built, "bjoern": "k9"}, WAS.packages, "since the start: bjoern; "),
        (
            WAS.built,
            {"Python": "3.11.7", "flask": "3.1.1"},
            "its Python or a package of it has .*: flask; ",
        ),
        (WAS.built, {"Python": "3.12.0", "flask": "3.1.0"}, "since the start: Python; "),
    ],
)
def test_what_is_built_otherwise_is_named(built: dict[str, str], packages: dict[str, str], says: str) -> None:
    said = SimpleNamespace(packages={name: text for name, text in packages.items() if name != "Python"})
    project = SimpleNamespace(version=packages["Python"], said=said)
    skipped = [Skipped(contender="waitress-4t", reason="no network")]
    sitting: Any = SimpleNamespace(project=project, skipped=skipped)
    bench: Any = SimpleNamespace(built={name: SimpleNamespace(key=key) for name, key in built.items()})
    with pytest.raises(UsageError, match=f"^r/try-1: .*{says}"):
        refuse_changed_builds(WAS, sitting, bench, Path("r/try-1"))


def test_what_is_as_it_was_is_gone_on_with() -> None:
    said = SimpleNamespace(packages={"flask": "3.1.0"})
    sitting: Any = SimpleNamespace(project=SimpleNamespace(version="3.11.7", said=said), skipped=[])
    bench: Any = SimpleNamespace(built={name: SimpleNamespace(key=key) for name, key in WAS.built.items()})
    refuse_changed_builds(WAS, sitting, bench, Path("r"))
