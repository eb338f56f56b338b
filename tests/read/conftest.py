"""A catalogue folder that is right, to be spoilt one file at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

FILES = {
    "runtimes/py.toml": """\
kind = "python"
language = "Python"
find = ["3.11"]
version = ["--version"]
install = "uv python install 3.11"
""",
    "workloads/plain.toml": """\
title = "Plain"
kind = "cpu"
[[requests]]
name = "plain"
path = "/"
""",
    "workloads/other.toml": """\
title = "Other"
kind = "cpu"
[[requests]]
name = "other"
path = "/other"
""",
    "apps/small/app.toml": """\
language = "Python"
interface = "wsgi"
framework = "none"
answers = ["plain"]
""",
    "contenders/fast.toml": """\
app = "small"
runtime = "py"
server = "fast"
model = "threads"
serve = ["fast", "--bind", "{bind}"]
because = "tests"
author = "tests"
""",
    "studies/short.toml": """\
title = "Short"
question = "Who?"
contenders = ["fast"]
workloads = ["plain"]
[[loads]]
connections = [4]
duration_s = 1
""",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path
