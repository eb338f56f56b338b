"""The flags ``--way`` and ``--cpus``: what they make of a study, what is said of them, and what is refused."""

from __future__ import annotations

import os

import msgspec
import pytest

from tests.analyse.fakes import FINGERPRINT, RIG, plan, run
from webdyno.analyse import analyse
from webdyno.analyse.doubts.machine import placement
from webdyno.commands import call
from webdyno.commands.doctor import _of_limits
from webdyno.commands.options import catalogue_of
from webdyno.commands.plan import _way
from webdyno.commands.studying import Narrowing
from webdyno.commands.trusting import with_user
from webdyno.plan import make_plan
from webdyno.read.check import study_faults
from webdyno.report.html import render_html
from webdyno.report.markdown import render_markdown

KNOWN = catalogue_of(None)


def test_they_are_part_of_the_plan_so_that_a_resumed_one_goes_the_same_way() -> None:
    chosen = Narrowing(way="container", cpus=1.5, contender=["waitress"]).of(KNOWN.studies["quickstart"], KNOWN)
    made = make_plan(chosen, KNOWN, {})
    assert (made.way, made.cpus) == ("container", 1.5)
    assert _way(made) == "way: container, at most 1.5 of a core's CPU time, at most 512 MB"
    best = make_plan(Narrowing(contender=["waitress"]).of(KNOWN.studies["quickstart"], KNOWN), KNOWN, {})
    assert _way(best).startswith("way: the best that this machine allows (see: webdyno doctor), at most 512 MB")


def test_throwaway_users_are_part_of_the_plan_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    study = Narrowing(contender=["waitress"]).of(KNOWN.studies["quickstart"], KNOWN)
    assert not make_plan(with_user(study, None, None), KNOWN, {}).as_user
    made = make_plan(with_user(study, True, None), KNOWN, {})
    assert made.as_user
    assert _way(made).endswith("as throw-away users, without your files, without any network but loopback")
    assert make_plan(with_user(msgspec.structs.replace(study, as_user=True), None, None), KNOWN, {}).as_user
    assert Narrowing(as_user=True).arguments == ["--as-user"]
    assert Narrowing(as_user=False).arguments == ["--no-as-user"]


def test_study_wsgi_has_the_limits_of_its_article() -> None:
    made = make_plan(Narrowing(way="container").of(KNOWN.studies["wsgi"], KNOWN), KNOWN, {})
    assert _way(made) == "way: container, at most 2 cores, at most 512 MB"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("run quickstart --cpus 0", "--cpus 0: give CPU time in cores, from 0.01 to 1024"),
        ("compare waitress cheroot --cpus 2000", "--cpus 2000: give CPU time in cores"),
        ("run quickstart --way docker", 'Choose from: "bare", "cgroup", "container"'),
        (
            "compare --rev a --rev b --cmd serve{port} --way container",
            "--way container is only for contenders of the catalogue",
        ),
        ("compare --rev a --rev b --cmd serve{port} --as-user", "--as-user is only for contenders of the catalogue"),
        ("capacity --resume x --as-user", "--resume continues a search as it was begun"),
    ],
)
def test_what_makes_no_sense_is_refused(line: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(line.split()) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())


def test_a_study_file_may_say_them_too() -> None:
    study = msgspec.structs.replace(KNOWN.studies["quickstart"], cpus=0.0, way="cgroup")
    assert (("cpus",), "must be from 0.01 to 1024") in [*study_faults(study, KNOWN)]
    assert not [*study_faults(msgspec.structs.replace(study, cpus=0.5), KNOWN)]


def test_runs_of_two_ways_are_not_compared_and_a_report_says_which_way_it_was() -> None:
    contained = msgspec.structs.replace(RIG, container="podman 4.3.1")
    limited, apart = msgspec.structs.replace(RIG, cpus=0.5), msgspec.structs.replace(RIG, as_user=True)
    assert len({placement(RIG), placement(contained), placement(limited), placement(apart)}) == 4
    runs = [run("go", rig=contained, round_=each) for each in (1, 2, 3)]
    analysis = analyse(plan(runs), FINGERPRINT, runs)
    for render in (render_html, render_markdown):
        told = render(plan(runs), FINGERPRINT, runs, analysis)
        assert "container of podman 4.3.1 (cgroup v2)" in told
        assert "container: cores, memory, processes and CPU time limited by a container engine" in told


def test_doctor_says_the_way_that_is_taken() -> None:
    fine, _ = _of_limits(RIG, FINGERPRINT)
    assert (fine.subject, fine.state) == ("way", "fine")
    assert fine.sentence.startswith("cgroup, unless --way names another: cores, memory and processes limited")
    weak, _ = _of_limits(msgspec.structs.replace(RIG, cgroup="none", cgroup_reason="read-only"), FINGERPRINT)
    assert (weak.subject, weak.state) == ("way", "weak")
    assert weak.sentence.startswith("bare, as no cgroup can be written (read-only): cores by affinity alone")


def test_a_report_says_that_contenders_were_throwaway_users() -> None:
    apart = msgspec.structs.replace(RIG, as_user=True, own_network=True)
    runs = [run("go", rig=apart, round_=each) for each in (1, 2, 3)]
    analysis = analyse(plan(runs), FINGERPRINT, runs)
    for render in (render_html, render_markdown):
        told = render(plan(runs), FINGERPRINT, runs, analysis)
        assert "as throw-away users, without your files, without any network but loopback" in told
