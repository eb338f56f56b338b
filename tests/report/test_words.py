"""What is said, once."""

import msgspec

from tests.analyse.fakes import FINGERPRINT, RIG, change_slices, plan, readings, run, study
from webdyno.analyse import analyse
from webdyno.report import words
from webdyno.report.failed import failures


def test_like_failures_are_told_once() -> None:
    _, _, runs = study()
    told = [(failure.contender, failure.outcome, failure.where) for failure in failures(runs)]
    assert told == [("cherrypy", "died", "json, 1 round"), ("meinheld", "build-failed", "hello and json, 6 rounds")]


def test_an_interrupted_run_is_no_failure() -> None:
    assert failures([run(outcome="interrupted")]) == []


def test_doubts_are_numbered_once_the_gravest_first() -> None:
    runs = [change_slices(run(name, round_=r), errors={"reset": 900}) for name in "abcde" for r in (1, 2)]
    marks = words.marks(analyse(plan(runs), FINGERPRINT, runs))
    assert [(mark.number, mark.kind, mark.voids) for mark in marks] == [
        (1, "wrong-answers", True),
        (2, "few-rounds", False),
    ]
    assert len(marks[0].sentences) == 4
    assert marks[0].sentences[-1].startswith("the same for ")


def test_doubts_about_whole_tables_beyond_three_are_counted_and_not_listed() -> None:
    runs = [
        run(name, workload=f"work-{at}", round_=r, readings=readings(3, host=1.6 + at / 10))
        for at in range(5)
        for name in ("go", "node")
        for r in (1, 2, 3)
    ]
    (mark,) = [mark for mark in words.marks(analyse(plan(runs), FINGERPRINT, runs)) if mark.kind == "noisy-host"]
    assert [sentence.partition(":")[0] for sentence in mark.sentences] == [
        *["the machine was not quiet in 6 of 6 runs"] * 3,
        "similar in 2 more tables",
    ]


def test_what_could_not_be_read_of_the_machine_is_left_out() -> None:
    labels = [label for label, _ in words.machine(FINGERPRINT)]
    assert "Turbo" not in labels
    assert "CPU" in labels


def test_placement_names_cores_and_limits() -> None:
    assert words.placement(RIG) == "contender on core 0, driver on core 1, at most 512 MiB, cgroup v2"
    contained = msgspec.structs.replace(RIG, cpus=1.5, container="podman 4.3.1")
    assert words.limits(contained) == "at most 1.5 CPUs, at most 512 MiB, container of podman 4.3.1 (cgroup v2)"
    assert words.limits(msgspec.structs.replace(RIG, cgroup="none")).endswith("affinity only, no cgroup")


def test_many_tie_letters_are_told_by_the_ends_of_their_runs() -> None:
    assert [words.tie(letters) for letters in ("", "A", "ABC", "ACEG")] == [words.MISSING, "A", "ABC", "ACEG"]
    assert words.tie("ABCD") == "A-D"
    assert words.tie("FGHIJKLO") == "F-L O"
    assert words.tie("ACEFGHIKL") == "A C E-I KL"
    assert words.tie("WXYZab") == "W-Z ab"


def test_the_end_of_a_log_is_clean_and_short() -> None:
    assert words.tail("a\x1b[31mb", 2) == "a\\u001b[31mb"
    assert words.tail("one\n\n  two  \nthree\n", 2) == "  two\nthree"
    assert len(words.tail("x" * 5_000, 3)) == 200
