"""``webdyno show``: one entry of the catalogue in full, with its command on this machine."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from cyclopts import Parameter

from webdyno.build import lines_for, without_hashes
from webdyno.commands.completing import everything
from webdyno.commands.options import CatalogueOption, JsonOption, catalogue_of
from webdyno.commands.printing import out, out_marked, say_json
from webdyno.model.catalogue import Catalogue
from webdyno.model.contender import Contender
from webdyno.model.errors import UsageError
from webdyno.model.matrix import Matrix
from webdyno.model.rule import evaluate
from webdyno.model.spelling import did_you_mean
from webdyno.read import cells


def show(
    name: Annotated[
        str,
        Parameter(help="Name of a contender, matrix, study, workload, app, runtime or service.", completer=everything),
    ],
    /,
    *,
    catalogue: CatalogueOption = None,
    json: JsonOption = False,
) -> int:
    """Show one entry of the catalogue: its settings, its pinned versions, and its command on this machine.

    Example: `webdyno show gunicorn-gevent`
    """
    known = catalogue_of(catalogue)
    found = _find(known, name)
    facts = {kind: _facts(known, thing) for kind, thing in found.items()}
    if json:
        say_json(facts)
        return 0
    for kind, fields in facts.items():
        out_marked(f"{kind} {name}", "bold")
        for key, value in fields.items():
            out(f"  {key:<14} {_plain(value)}")
    return 0


def _find(known: Catalogue, name: str) -> dict[str, Any]:
    shelves: dict[str, dict[str, Any]] = {
        "contender": dict(known.contenders),
        "study": dict(known.studies),
        "workload": dict(known.workloads),
        "app": dict(known.apps),
        "runtime": dict(known.runtimes),
        "matrix": dict(known.matrices),
        "service": dict(known.services),
    }
    found = {kind: shelf[name] for kind, shelf in shelves.items() if name in shelf}
    if not found and name in known.excluded:
        raise UsageError(f"{name} is {known.excluded[name]}")
    if not found:
        everything = [known_name for shelf in shelves.values() for known_name in shelf]
        hint = did_you_mean(name, everything, "see: webdyno list")
        raise UsageError(f"nothing in the catalogue is called {name!r}; {hint}")
    return found


def _facts(known: Catalogue, thing: Any) -> dict[str, Any]:
    facts: dict[str, Any] = msgspec.to_builtins(thing)
    del facts["name"]
    facts = {key: value for key, value in facts.items() if value not in (None, [], {})}
    if isinstance(thing, Contender):
        facts |= _on_this_machine(thing)
        if thing.name in known.locks:
            requires = [*known.apps[thing.app].requires, *thing.requires]
            lines = lines_for(requires, known.locks[thing.name].read_text(encoding="utf-8"))
            facts["locked"] = without_hashes(lines)
    if isinstance(thing, Matrix):
        facts |= _combinations(thing)
    return facts


def _combinations(matrix: Matrix) -> dict[str, Any]:
    """How many contenders it is, and for each exclusion the combinations that are none because of it."""
    every = list(cells(matrix))
    exclude = [
        {
            "reason": it.reason,
            **({"error": it.error} if it.error else {}),
            "excluded": [cell.name for cell in every if cell.excluded is it],
        }
        for it in matrix.exclude
    ]
    return {"contenders": sum(cell.excluded is None for cell in every), "exclude": exclude}


def _on_this_machine(contender: Contender) -> dict[str, Any]:
    from webdyno.model.placeholder import fill
    from webdyno.rig.cores import assign, physical_cores, usable_cores

    cores = len(assign(physical_cores(usable_cores())).contender)
    workers, threads = evaluate(contender.workers, cores), evaluate(contender.threads, cores)
    pool = None if contender.pool is None else evaluate(contender.pool, cores, workers)
    command = fill(
        contender.serve, host="127.0.0.1", port=8000, workers=workers, threads=threads, cores=cores, pool=pool
    )
    here = {"cores": cores, "workers": workers, "threads": threads, "pool": pool, "command": " ".join(command)}
    return {"here": {key: value for key, value in here.items() if value is not None}}


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        said = {key: item for key, item in value.items() if item not in (None, [], {}, "")}
        return "".join(f"\n    {key} = {_plain(item)}" for key, item in said.items())
    if isinstance(value, list):
        if any(isinstance(item, dict) for item in value):
            return "".join(f"\n    -{_plain(item)}" for item in value)
        return " ".join(str(item) for item in value)
    return str(value)
