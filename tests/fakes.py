"""Twins of outside things: a small catalogue that lives nowhere but here."""

from __future__ import annotations

from webdyno.model.catalogue import Catalogue
from webdyno.model.contender import App, Contender, Runtime
from webdyno.model.study import Study, StudyLoad
from webdyno.model.workload import Expectation, Request, Workload


def contender(name: str, **changes: object) -> Contender:
    fields: dict[str, object] = {
        "name": name,
        "app": "app",
        "runtime": "python",
        "server": name,
        "model": "threads",
        "serve": ["serve", "--bind", "{bind}"],
        "because": "tests",
        "author": "tests",
    }
    return Contender(**{**fields, **changes})  # type: ignore[arg-type]


def workload(name: str, path: str = "/", body: str = "Hello, World!") -> Workload:
    request = Request(name=name, path=path, expect=Expectation(body=body))
    return Workload(name=name, title=name, kind="cpu", requests=[request])


def catalogue(*names: str, **contender_changes: object) -> Catalogue:
    return Catalogue(
        contenders={name: contender(name, **contender_changes) for name in names},
        apps={"app": App(name="app", language="Python", interface="wsgi", framework="none", answers=["hello", "json"])},
        runtimes={
            "python": Runtime(
                name="python", kind="python", language="Python", find=["3.11"], version=["--version"], install="uv does"
            )
        },
        workloads={"hello": workload("hello"), "json": workload("json", "/json", '{"message":"Hello, World!"}')},
        studies={},
        app_directories={},
        locks={},
    )


def study(*names: str, **changes: object) -> Study:
    fields: dict[str, object] = {
        "name": "study",
        "title": "Study",
        "question": "Who?",
        "contenders": list(names),
        "workloads": ["hello", "json"],
        "loads": [StudyLoad(connections=[8, 64], duration_s=2.0)],
    }
    return Study(**{**fields, **changes})  # type: ignore[arg-type]
