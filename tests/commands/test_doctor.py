"""``webdyno doctor`` ends with a verdict and its gravest reasons."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from webdyno.commands import call, doctor
from webdyno.commands.doctor import Finding, State, verdict
from webdyno.rig.strap import Strapped


def found(*subjects: tuple[str, State]) -> list[Finding]:
    return [Finding(subject=subject, state=state, sentence=f"{subject} is {state}") for subject, state in subjects]


MISSING: tuple[str, State] = ("go", "missing")
FIT = found(("cores", "fine"), MISSING)
RESERVED = found(
    ("governor", "weak"), ("way", "weak"), ("noise", "weak"), ("metal", "weak"), ("cores", "weak"), MISSING
)
NOT_FIT = found(("cores", "weak"), ("driver engine", "broken"))


def test_what_is_missing_is_no_reason() -> None:
    assert verdict(FIT) == ("fit", [])


def test_three_reasons_at_most_the_gravest_first() -> None:
    fitness, reasons = verdict(RESERVED)
    assert fitness == "fit with reservations"
    assert [reason.subject for reason in reasons] == ["cores", "noise", "way"]


def test_what_is_broken_is_not_fit() -> None:
    fitness, reasons = verdict(NOT_FIT)
    assert (fitness, [reason.subject for reason in reasons]) == ("not fit", ["driver engine"])


@pytest.mark.parametrize(
    ("findings", "code", "ending"),
    [
        (FIT, 0, ["fit to measure on"]),
        (RESERVED, 0, ["fit with reservations:", "  cores is weak", "  noise is weak", "  way is weak"]),
        (NOT_FIT, 3, ["not fit:", "  driver engine is broken"]),
    ],
)
def test_it_is_said_last_and_by_the_exit_code(
    findings: list[Finding],
    code: int,
    ending: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    monkeypatch.setenv("WEBDYNO_LOCK", str(tmp_path_factory.mktemp("lock")))

    def as_found(_: Strapped) -> Iterator[Finding]:
        yield from findings

    monkeypatch.setattr(doctor, "_findings", as_found)
    assert call(["doctor"]) == code
    assert capsys.readouterr().out.splitlines()[-len(ending) :] == ending
    assert call(["doctor", "--json"]) == code
    data = json.loads(capsys.readouterr().out)
    assert data["verdict"] == ending[0].removesuffix(":").removesuffix(" to measure on")
    assert data["reasons"] == [reason.strip() for reason in ending[1:]]
