"""What lies behind the figures, in the reports: limits, warm-up, scaling, and how a race is spoken of."""

import io

import msgspec
from rich.console import Console

from tests.analyse.fakes import FINGERPRINT, LOAD, plan, readings, run
from tests.analyse.test_scale import study
from webdyno.analyse import analyse
from webdyno.model.race import Race
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.report import course
from webdyno.report.appendix import again_flags
from webdyno.report.html import render_html
from webdyno.report.json import render_json
from webdyno.report.markdown import render_markdown
from webdyno.report.terminal import render_terminal

EVIL = "<script>alert(1)</script>"


def terminal(made: Plan, runs: list[Run], tmp_path: object) -> str:
    out = io.StringIO()
    console = Console(width=140, file=out)
    render_terminal(made, FINGERPRINT, runs, analyse(made, FINGERPRINT, runs), tmp_path, console)  # type: ignore[arg-type]
    return out.getvalue()


def test_scaling_is_in_every_report(tmp_path: object) -> None:
    runs = study(0.9, 0.0)
    made = plan(runs)
    told = (made, FINGERPRINT, runs, analyse(made, FINGERPRINT, runs))
    assert "hello: go over connections: " in terminal(made, runs, tmp_path)
    assert "Universal Scalability Law" in render_html(*told)
    assert "## Scaling" in render_markdown(*told)
    [scaling] = msgspec.json.decode(render_json(*told))["analysis"]["scalings"]
    assert scaling["contention"]["low"] <= 0.9 <= scaling["contention"]["high"]


def test_what_could_not_be_fitted_is_told_once_with_its_reason(tmp_path: object) -> None:
    runs = [
        run(name, load=msgspec.structs.replace(LOAD, connections=c), round_=r)
        for r in (1, 2, 3)
        for name in ("go", "node")
        for c in (8, 64)
    ]
    made = plan(runs)
    told = (made, FINGERPRINT, runs, analyse(made, FINGERPRINT, runs))
    line = "2 curves not fitted: a scaling law needs 5 levels, and there are 2"
    assert f"- {line}" in render_markdown(*told)
    for page in (terminal(made, runs, tmp_path), render_markdown(*told), render_html(*told)):
        assert page.count(line) == 1
    assert "over connections: not fitted" not in render_html(*told)


def test_limits_and_warm_up_are_in_the_page_and_nothing_of_them_is_markup(tmp_path: object) -> None:
    runs = [run(EVIL, round_=r, readings=readings(3, contender=0.98)) for r in (1, 2, 3)]
    made = plan(runs)
    html = render_html(made, FINGERPRINT, runs, analyse(made, FINGERPRINT, runs))
    assert "What limits each" in html
    assert "is CPU-bound: its one core was 98 % busy" in html
    assert "cold start" in html
    assert '<td data-label="cold start" class="n">320 ms</td>' in html
    assert EVIL not in html
    assert "What limits them: CPU-bound" in terminal(made, runs, tmp_path)


def test_one_load_has_no_scaling_anywhere(tmp_path: object) -> None:
    runs = [run(round_=r) for r in (1, 2, 3)]
    made = plan(runs)
    assert "Scaling" not in terminal(made, runs, tmp_path)
    assert "Scalability" not in render_html(made, FINGERPRINT, runs, analyse(made, FINGERPRINT, runs))


def test_a_race_is_spoken_of_as_one() -> None:
    runs = [run(name, round_=r) for r in (1, 2, 3) for name in ("go", "node")]
    made = plan(runs, race=Race(budget_s=600.0, margin=0.05, top=None), rounds=10)
    assert "A race: 6 runs in 3 rounds" in course.measured(made, runs)
    assert course.rounds(made, runs) == "a race of up to 3, a fresh server in each"
    assert again_flags(made) == "--budget 600s --precision 5% --top 0"
    assert again_flags(msgspec.structs.replace(made, race=None)) == "--rounds 10 --exhaustive"
    in_place = msgspec.structs.replace(made, race=None, in_place=True)
    assert again_flags(in_place) == "--rounds 10 --in-place"
    assert course.rounds(in_place, runs) == "10, all on one start of each server"
    assert "one after the other on one start of each server" in course.measured(in_place, runs)
    four = Race(most_runs=4 * made.cells)
    assert again_flags(msgspec.structs.replace(made, race=four)) == "--rounds 4 --top 3"
    assert "of up to 0" in course.rounds(made, [])
