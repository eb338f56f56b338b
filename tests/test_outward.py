"""What others wrote reaches no terminal, page or file in a way that steers it: every sink is fed it, and read again.

A sink that is not in these tables fails the test of their completeness.
"""

from __future__ import annotations

import ast
import csv
import importlib
import inspect
import io
import json
import pkgutil
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import pytest
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tests.analyse.fakes import plan, run
from tests.commands.test_load import recorded
from tests.commands.test_try_telling import COPIED
from tests.commands.test_try_telling import told as tried
from tests.report.test_escape import told
from tests.view.serving import made, rounds, serving
from webdyno import export, report
from webdyno.analyse.capacity import capacity_of
from webdyno.analyse.table import Evidence
from webdyno.analyse.versus import over_folders
from webdyno.commands import call, check, printing
from webdyno.commands.load import STYLES
from webdyno.commands.loading.summary import print_summary, route_lines
from webdyno.commands.loading.table import csv_lines, write_hdr
from webdyno.commands.loading.watching import Panel
from webdyno.commands.progress import Lines
from webdyno.commands.trying.telling import tell
from webdyno.design.rate_search import goal_of
from webdyno.model.errors import ContenderError
from webdyno.model.outward import clean, csv_cell
from webdyno.model.run import Run
from webdyno.model.sample import Route
from webdyno.model.sought import Sought
from webdyno.model.trial import Plan, Trial
from webdyno.report.capacity import capacity_lines
from webdyno.report.csv import render_csv
from webdyno.report.html import render_html
from webdyno.report.json import render_json
from webdyno.report.markdown import render_markdown
from webdyno.report.openmetrics import render_openmetrics
from webdyno.report.picture import render_picture
from webdyno.report.terminal import render_terminal
from webdyno.report.versus import versus_lines, versus_markdown
from webdyno.session.engine import Loaded
from webdyno.session.saying import say

NASTY = (
    "=1+1\x1b]0;owned\x07\x1b[31m\x9b2J\x00\x08\x0b\x7f\x85\r\xad\u061c\u200b\u200e\u2028\u2029\u202e\u2066\u2060\ufeff"
    "\U000e0041[red]seen[/red]"
)
"""A title for a terminal, a colour, a cleared screen; signs that turn, part or hide text; a formula; rich's markup."""
STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""What must be in nothing that goes out; said here once more, and not as ``clean`` says it."""
PACKAGE = Path(report.__file__).parent.parent

Told = tuple[Any, Any, Any, Any]


def assert_tame(text: str) -> None:
    """It shows what it was given, and nothing of it steers."""
    assert "owned" in text
    assert STEERING.search(text) is None


# The functions


def test_what_must_not_be_seen_is_shown_as_json_writes_it_and_all_else_stays() -> None:
    assert clean("a\x1b[31mb\x07\r\nc\td\u202e\r") == "a\\u001b[31mb\\u0007\nc\td\\u202e\\u000d"
    assert clean("\U000e0041 \udce9") == "\\udb40\\udc41 \\udce9"
    harmless = "Grüße, 漢字 µs ≥ 1 │ é e\u0301 \U0001f600\n\tend"
    assert clean(harmless) == harmless
    assert STEERING.search(clean("".join(map(chr, range(0x110000))))) is None


def test_json_stays_the_same_json() -> None:
    assert json.loads(clean(msgspec.json.encode({NASTY: NASTY}).decode())) == {NASTY: NASTY}


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "\uff1d1", "\uff20x"])
def test_a_cell_that_reads_as_a_formula_is_guarded(text: str) -> None:
    assert str(csv_cell(text)).startswith("'")


def test_other_cells_stay_and_numbers_are_numbers() -> None:
    cells = ["waitress", "a=b", "", -1, -0.5, 0, None]
    assert [csv_cell(cell) for cell in cells] == cells


# Reports


def terminal(evil: Told, folder: Path) -> str:
    console = printing.out_console()
    console.file = io.StringIO()
    render_terminal(*evil, folder, console)
    return console.file.getvalue()


def versus(evil: Told, form: Callable[..., Any]) -> str:
    side = Evidence(*evil[:3])
    found = over_folders(side, side, 0.03)
    made_of = form((NASTY, NASTY), found, [NASTY])
    return made_of if isinstance(made_of, str) else "\n".join(map(clean, made_of))


def searched() -> str:
    sought = Sought(slo=NASTY, budget_s=1, duration_s=1, warmup_s=1, first_per_s=1, most_per_s=9, precision=0.1)
    found = capacity_of([], goal_of(sought))
    return "\n".join(map(clean, capacity_lines(NASTY, NASTY, found, [NASTY])))


REPORTS: dict[str, Callable[[Told], str]] = {
    "render_html": lambda evil: render_html(*evil),
    "render_markdown": lambda evil: render_markdown(*evil),
    "render_csv": lambda evil: render_csv(*evil),
    "render_json": lambda evil: render_json(*evil).decode(),
    "render_openmetrics": lambda evil: render_openmetrics(*evil),
    "render_picture": lambda evil: render_picture(*evil, dark=False),
    "render_terminal": lambda evil: terminal(evil, Path(NASTY)),
    "versus_markdown": lambda evil: versus(evil, versus_markdown),
    "versus_lines": lambda evil: versus(evil, versus_lines),  # which a command prints
    "capacity_lines": lambda _: searched(),  # and these too
}


@pytest.fixture(scope="module")
def evil() -> Told:
    return told(NASTY)


@pytest.mark.parametrize("form", REPORTS)
def test_a_report_of_whatever_a_results_file_holds_is_tame(form: str, evil: Told) -> None:
    assert_tame(REPORTS[form](evil))


def test_every_form_of_a_report_is_in_the_table() -> None:
    modules = [importlib.import_module(f"webdyno.report.{each.name}") for each in pkgutil.iter_modules(report.__path__)]
    found = {
        name
        for module in modules
        for name, it in inspect.getmembers(module, inspect.isfunction)
        if re.fullmatch(r"render_\w+|\w+_lines|\w+_markdown", name) and it.__module__ == module.__name__
    }
    assert found == set(REPORTS)


@pytest.mark.parametrize("form", export.FORMATS)
def test_what_is_exported_is_tame(form: str) -> None:
    its = [(7, run(NASTY, workload=NASTY, message=NASTY, beside=[NASTY]))]
    text = export.hlog(its[0][1]) if form == "hlog" else "".join(export.lines(its, form))
    assert_tame(text)
    assert re.fullmatch(r"[\w.-]+", export.log_name(*its[0]))


def test_no_cell_of_any_csv_is_a_formula(evil: Told) -> None:
    for text in (
        render_csv(*evil),
        "".join(export.lines([(7, run(NASTY, workload=NASTY, beside=[NASTY]))], "csv")),
        "".join(csv_lines(loaded())),
    ):
        cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
        assert any(cell.startswith("'=") for cell in cells)
        assert not [cell for cell in cells if cell.startswith(("=", "+", "@"))]
        assert not [cell for cell in cells if cell.startswith("-") and not re.fullmatch(r"-[\d.e+-]+", cell)]


# What commands print


def loaded() -> Loaded:
    """A load of whose routes nothing good is known."""
    it = recorded("routes") if (Path(__file__).parent / "golden/engine/routes.txt").exists() else recorded("timed")
    route = Route(name=NASTY, offered=1, ok=1, errors={}, bytes_in=1)
    slices = [msgspec.structs.replace(each, routes=[route]) for each in it.slices]
    routes = [{"name": NASTY, "ok": 1, "errors": {}}]
    return Loaded(it.order, slices, {**it.summary, "routes": routes, "started": {"backend": NASTY}})


def drawn(renderable: Any) -> None:
    printing.out_console().print(renderable)


def table() -> Table:
    it = Table(NASTY)
    it.add_row(NASTY)
    it.add_row(Text(NASTY))
    return it


def live() -> None:
    console = printing.out_console()
    with Live(Text(NASTY), console=console, auto_refresh=False):
        pass


def checked(**fields: Any) -> None:
    check._print(check.Checked(contender=NASTY, workload=NASTY, passed=False, problem=NASTY, **fields))


def answered(question: str) -> str:
    """By the end of input."""
    with patch.object(sys, "stdin", io.StringIO()):
        return printing.answer(question)


PRINTED: dict[str, Callable[[], object]] = {
    "out": lambda: printing.out(NASTY),
    "err": lambda: printing.err(NASTY),
    "answer": lambda: answered(NASTY),
    "out_marked": lambda: printing.out_marked(NASTY, "red", NASTY),
    "give": lambda: printing.give([NASTY]),
    "say_json": lambda: printing.say_json({NASTY: NASTY}),
    "say_failed": lambda: printing.say_failed(ContenderError(NASTY, f"{NASTY}\n{NASTY}")),
    "out_console": lambda: drawn(NASTY),
    "out_console, a text": lambda: drawn(Text(NASTY)),
    "out_console, a table": lambda: drawn(table()),
    "out_console, a panel": live,
    "err_console": lambda: printing.err_console().print(NASTY),
    "the logger": lambda: say(NASTY),
    "an error": lambda: call(["show", NASTY]),
    "an unknown flag": lambda: call(["list", f"--{NASTY}"]),
    "check, failed": lambda: checked(log_tail=NASTY),
    "check, skipped": lambda: checked(skipped=True),
    "load": lambda: print_summary(NASTY, loaded(), [NASTY]),
    "load --json": lambda: printing.say_json({"doubts": [NASTY]}),
    "load --csv": lambda: printing.give(csv_lines(loaded())),
    "load, its panel": lambda: drawn(Panel(NASTY, loaded().order.load).draw()),
    **{
        f"load --style {name}": lambda style=style: printing.give([*style(NASTY, loaded()), *route_lines(loaded())])
        for name, style in STYLES.items()
    },
    "try": lambda: tell(
        tried(
            answer=NASTY,
            notes=[NASTY],
            failed={"a": NASTY},
            copy=msgspec.structs.replace(COPIED, command=NASTY, files={NASTY: NASTY}),
            copy_of="current",
        ),
        printing.out_console(),
    ),
    "progress": lambda: Lines(plan([run("go")]), set()).end(run("go", outcome="died", message=NASTY, slices=[])),
}
NOT_TEXT = {"flush", "out_is_seen", "err_is_seen", "give_bytes"}


@pytest.mark.parametrize("sink", PRINTED)
def test_what_is_printed_is_tame_and_no_markup(sink: str, capsys: pytest.CaptureFixture[str]) -> None:
    if sink == "the logger":
        from webdyno.commands.saying import heard

        with heard():
            PRINTED[sink]()
    else:
        PRINTED[sink]()
    said = capsys.readouterr()
    assert_tame(said.out + said.err)
    if sink not in (
        "out_console, a text",
        "out_console, a table",
        "out_console, a panel",
        "load, its panel",
    ):  # which are cut
        assert "[red]seen[/red]" in re.sub(r"\n", "", said.out + said.err)


def test_every_way_to_print_is_in_the_table() -> None:
    ways = {name for name, it in inspect.getmembers(printing, inspect.isfunction) if it.__module__ == printing.__name__}
    assert {name for name in ways if not name.startswith("_")} - NOT_TEXT <= set(PRINTED)


def numbered(runs: Sequence[Run], whole: Plan) -> tuple[list[Run], Plan]:
    """The same with Trials that files can be named after, as the store asks for."""
    ids = {trial.id: f"trial-{at}" for at, trial in enumerate(whole.trials)}

    def renamed(trial: Trial) -> Trial:
        return msgspec.structs.replace(trial, id=ids[trial.id])

    of_runs = [msgspec.structs.replace(run, trial=renamed(run.trial)) for run in runs]
    return of_runs, msgspec.structs.replace(whole, trials=[renamed(trial) for trial in whole.trials])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, evil: Told) -> Path:
    """Results folders that somebody mailed."""
    root = tmp_path_factory.mktemp("results")
    whole, _, runs, _ = evil
    for name in ("base", "head"):
        made(root / name, *numbered(runs, whole))
    made(root / "plain", rounds())
    return root


@pytest.mark.parametrize(
    "line",
    [
        *(f"report base -f {form}" for form in ("terminal", "html", "md", "csv", "json", "openmetrics", "svg")),
        *(f"export base -f {form}" for form in ("jsonl", "csv")),
        *(f"compare base head -f {form}" for form in ("terminal", "md", "json")),
        "capacity base",
    ],
)
def test_a_command_that_reads_a_hostile_results_file_prints_nothing_that_steers(
    line: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    call(line.split())
    said = capsys.readouterr()
    assert STEERING.search(said.out + said.err) is None
    assert len(said.out + said.err) > 50


@pytest.mark.parametrize(
    "path",
    ["/", "/results/base", "/results/base/live", "/results/base/metrics", "/metrics", "/compare?base=base&head=head"],
)
def test_a_page_of_the_view_is_tame(path: str, folder: Path) -> None:
    with serving(folder) as there:
        reply = there.get(path)
    assert reply.status == 200
    assert STEERING.search(reply.text) is None
    assert "owned" in reply.text
    assert "\n" not in "".join(reply.headers.values())


# Files

WRITERS = {
    "commands/loading/table": "write_hdr: a log that webdyno.export made",
    "commands/metering": "put: what render_openmetrics made",
    "export": "export: its own lines",
    "now": "JSON, for webdyno view",
    "session/ceilings": "JSON, for webdyno itself",
    "session/fleet_course": "the logs that hosts of a fleet send, as a contender wrote them",
    "session/reports": "write: what a form of the report made, or try has to copy",
}
"""Modules that write text, and whose it is."""


def test_every_writer_of_text_is_known() -> None:
    found = set()
    for place in ("report", "commands", "session", "view", "export", "now"):
        for path in (
            [PACKAGE / f"{place}.py"] if (PACKAGE / f"{place}.py").is_file() else (PACKAGE / place).rglob("*.py")
        ):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Attribute) and node.attr in ("write_text", "write_bytes"):
                    found.add(str(path.relative_to(PACKAGE).with_suffix("")))
    assert found == set(WRITERS)


def test_a_histogram_log_of_a_load_is_tame(tmp_path: Path) -> None:
    write_hdr(tmp_path / "hdr", NASTY, loaded())
    text = (tmp_path / "hdr").read_text(encoding="utf-8")
    assert_tame(text)
    assert text.startswith("#webdyno: =1+1")
