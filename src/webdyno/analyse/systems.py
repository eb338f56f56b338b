"""Systems: each system of an article with the contender that runs it here, and every setting that is not the article's.

What differs is found by comparing two tables of settings, the article's and ours; of ours the numbers of processes and
threads, the pool and the versions of Python packages are the contender's own, and cores, memory and container are those
of the Runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from webdyno.model.contender import App, Contender
from webdyno.model.rig import Rig
from webdyno.model.run import Run
from webdyno.model.system import Difference, System, SystemHere
from webdyno.model.trial import Plan
from webdyno.model.way import WayName

_CONTAINER: dict[WayName, str] = {
    "bare": "none: bare processes, on loopback",
    "cgroup": "a cgroup on loopback",
    "container": "one of {}, with the machine's own network, on loopback",
}
_PIN = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^;\s]+)")
_REMARK = re.compile(r"\s*\(.*\)$")


def systems(plan: Plan) -> list[SystemHere]:
    """Every system of the study's article, and what it had that the study has not."""
    here = [_here(system, plan) for system in plan.systems]
    return here + [
        SystemHere(name=it.name, contenders=[], differs=[], tuned=_there(it.instead, plan), why=it.reason)
        for it in plan.absent
    ]


def setting(plan: Plan, runs: Sequence[Run]) -> list[Difference]:
    """What is different here for all of them; of cores, memory and container what the Runs were really given."""
    if plan.original is None:
        return []
    return list(_differences(plan.original.article, {**plan.original.here, **_given([run.rig for run in runs])}))


def _given(rigs: Sequence[Rig]) -> dict[str, str]:
    """As an article's table of settings names them; of Runs in several placements, each once."""
    told = {
        "container": [_CONTAINER[rig.way].format(rig.container) for rig in rigs],
        "cores of the server": [str(len(rig.contender_cores)) for rig in rigs],
        "memory": ["no limit" if rig.memory_bytes is None else f"{rig.memory_bytes // 2**20} MB" for rig in rigs],
    }
    return {key: ", ".join(dict.fromkeys(texts)) for key, texts in told.items() if texts}


def _here(system: System, plan: Plan) -> SystemHere:
    names = [name for name in plan.contenders if fnmatchcase(name, system.contender)]
    own = [own_settings(plan.contenders[name], plan.apps[plan.contenders[name].app]) for name in names]
    return SystemHere(
        name=system.name,
        contenders=names,
        differs=list(_differences(system.article, {**_shared(own), **system.here})),
        tuned=_there(system.tuned, plan),
        why=system.why or ("" if names else _skipped(system, plan)),
    )


def own_settings(contender: Contender, app: App) -> dict[str, str]:
    """What a contender's own definition says of its settings: rules over cores, and pinned versions by package."""
    given = {"processes": contender.workers, "threads": contender.threads, "pool": contender.pool}
    pins = (_PIN.fullmatch(one) for one in [*app.requires, *contender.requires])
    return {key: str(value) for key, value in given.items() if value is not None} | {
        pin[1].lower(): pin[2] for pin in pins if pin
    }


def _shared(settings: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """What all of them have alike."""
    first, *others = settings or [{}]
    return {key: value for key, value in first.items() if all(other.get(key) == value for other in others)}


def _differences(article: Mapping[str, str], here: Mapping[str, str]) -> Iterator[Difference]:
    for key, before in article.items():
        now = here.get(key, here.get(key.lower()))
        if now is not None and _bare(now) != _bare(before):
            yield Difference(setting=key, article=before, here=now)


def _bare(value: str) -> str:
    """Without the remark in brackets."""
    return _REMARK.sub("", value).replace(" ", "").lower()


def _there(names: Sequence[str], plan: Plan) -> list[str]:
    return [name for name in names if name in plan.contenders]


def _skipped(system: System, plan: Plan) -> str:
    reasons = [skip.reason for skip in plan.skipped if skip.contender and fnmatchcase(skip.contender, system.contender)]
    return next(iter(reasons), "was not measured")
