"""``webdyno run --resume``: on another machine a plan does not go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.analyse.fakes import FINGERPRINT, plan, run
from webdyno.commands.run import _finish
from webdyno.model.errors import UsageError
from webdyno.model.run import Run
from webdyno.session.resuming import refuse_another_machine
from webdyno.session.study import Ended
from webdyno.store import Store

PLAN = plan([run()])


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"cpu_model": "AMD EPYC 9R14"}, "cpu_model was Intel.* 8488C and is AMD EPYC 9R14 here"),
        ({"cores": 4, "threads_per_core": 2}, r"\(cores was 2 and is 4 here, threads_per_core was 1 and is 2 here\)"),
        ({"architecture": "aarch64"}, "start over here: webdyno run fake$"),
    ],
)
def test_other_processors_are_another_machine(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        refuse_another_machine(PLAN, Path("results/x"), FINGERPRINT, msgspec.structs.replace(FINGERPRINT, **changes))


def test_the_study_is_named_as_it_was_asked_for() -> None:
    made = msgspec.structs.replace(PLAN, arguments=["hello", "-c", "64"])
    with pytest.raises(UsageError, match=r"webdyno run hello -c 64$"):
        refuse_another_machine(made, Path("x"), FINGERPRINT, msgspec.structs.replace(FINGERPRINT, cores=8))


def test_a_machine_with_another_kernel_or_load_is_the_same() -> None:
    later = msgspec.structs.replace(FINGERPRINT, kernel="6.2", hostname="again", load_before=3.0)
    refuse_another_machine(PLAN, Path("x"), FINGERPRINT, later)


@pytest.mark.parametrize(
    ("runs", "says"),
    [
        (
            [run(outcome="interrupted", slices=[])],
            "stopped; nothing was measured yet; to begin the same plan again: webdyno run --resume ",
        ),
        ([], "stopped; nothing was measured yet; to begin the same plan again: webdyno run --resume "),
        ([run()], "stopped; 1 trials left: webdyno run --resume "),
    ],
)
def test_resuming_is_offered_whatever_was_saved(
    runs: list[Run], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "r"
    with Store.create(folder, plan([run(), run(round_=2)]), FINGERPRINT) as store:
        for each in runs:
            store.append(each)
    assert _finish(Ended(folder, interrupted=True), json=False, metrics=None) == 130
    assert says in capsys.readouterr().err


def test_the_catalogues_that_it_needs_are_in_the_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["mine", "--catalogue", "my shop", "-k", "waitress", "--catalogue", "more"]
    with Store.create(tmp_path / "r", plan([run()], arguments=given), FINGERPRINT):
        pass
    assert _finish(Ended(tmp_path / "r", interrupted=True), json=False, metrics=None) == 130
    line = f"webdyno run --resume {tmp_path / 'r'} --catalogue 'my shop' --catalogue more\n"
    assert line in capsys.readouterr().err
