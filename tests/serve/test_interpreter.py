"""What a free-threaded CPython writes when a module switches the GIL on again is found in a contender's log."""

from __future__ import annotations

from pathlib import Path

from webdyno.serve.interpreter import gil_modules

WARNING = (
    "<frozen importlib._bootstrap>:491: RuntimeWarning: The global interpreter lock (GIL) has been enabled to load "
    "module '{}', which has not declared that it can run safely without the GIL. To override this behavior and keep "
    "the GIL disabled (at your own risk), run with PYTHON_GIL=0 or -Xgil=0.\n"
)


def test_each_module_is_told_once_however_many_workers_load_it(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("starting\n" + WARNING.format("gevent._c") * 4 + "ready\n" + WARNING.format("_speedups"))
    assert gil_modules(log, 0) == ["gevent._c", "_speedups"]


def test_what_an_earlier_start_wrote_does_not_count(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(WARNING.format("gevent._c"))
    assert gil_modules(log, log.stat().st_size) == []


def test_a_log_that_does_not_exist_says_nothing(tmp_path: Path) -> None:
    assert gil_modules(tmp_path / "none", 0) == []
