"""Systems of an article: what differs is found from two tables of settings, and from the contender itself."""

from __future__ import annotations

import msgspec

from tests.analyse.fakes import RIG, contender, plan, run
from webdyno.analyse.systems import setting, systems
from webdyno.model.claim import Absent, Original
from webdyno.model.contender import Contender
from webdyno.model.system import Difference, System
from webdyno.model.trial import Plan, Skipped

CHERRYPY = System(
    name="CherryPy",
    contender="cherrypy-*",
    tuned=["cheroot", "not-measured"],
    article={
        "CherryPy": "5.1.0",
        "Python": "2.7",
        "processes": "1",
        "threads": "10 (its default)",
        "listen queue": "5 (its default)",
        "pool": "6000",
    },
    here={"Python": "3.11", "listen queue": "5"},
)


def planned(*contenders: Contender, **changes: object) -> Plan:
    runs = [run(each.name, round_=at) for each in contenders for at in (1, 2)]
    made = plan(runs, contenders={each.name: each for each in contenders})
    return msgspec.structs.replace(made, **changes)


def cherrypy(name: str = "cherrypy-as-2016", **changes: object) -> Contender:
    return contender(name, **{"threads": 10, "requires": ["CherryPy==18.10.0"], **changes})


def test_only_what_differs_is_told_and_versions_are_the_contenders_own() -> None:
    (told,) = systems(planned(cherrypy(), contender("cheroot"), systems=[CHERRYPY]))
    assert told.contenders == ["cherrypy-as-2016"]
    assert told.tuned == ["cheroot"]
    assert told.differs == [
        Difference(setting="CherryPy", article="5.1.0", here="18.10.0"),
        Difference(setting="Python", article="2.7", here="3.11"),
    ]


def test_a_number_of_threads_is_compared_as_the_rule_it_is() -> None:
    (told,) = systems(planned(cherrypy(threads="2 * cores"), systems=[CHERRYPY]))
    assert Difference(setting="threads", article="10 (its default)", here="2 * cores") in told.differs


def test_of_several_contenders_only_what_they_share_is_told() -> None:
    both = planned(cherrypy("cherrypy-a"), cherrypy("cherrypy-b", threads=4), systems=[CHERRYPY])
    (told,) = systems(both)
    assert told.contenders == ["cherrypy-a", "cherrypy-b"]
    assert [it.setting for it in told.differs] == ["CherryPy", "Python"]


def test_a_system_that_is_not_here_says_why() -> None:
    skipped = [Skipped(contender="cherrypy-as-2016", reason="needs Python 2")]
    (told,) = systems(planned(contender("go"), systems=[CHERRYPY], skipped=skipped))
    assert (told.contenders, told.why) == ([], "needs Python 2")
    (again,) = systems(planned(contender("go"), systems=[CHERRYPY]))
    assert again.why == "was not measured"


def test_what_the_study_has_not_stands_among_the_systems() -> None:
    absent = Absent(name="CGI", reason="nobody measured it", instead=["go"])
    (told,) = systems(planned(contender("go"), absent=[absent]))
    assert (told.name, told.contenders, told.tuned, told.why) == ("CGI", [], ["go"], "nobody measured it")


def test_the_setting_of_all_is_compared_in_the_same_way() -> None:
    original = Original(
        source="it",
        year=2016,
        baseline="go",
        article={"tool": "wrk", "memory": "512 MB"},
        here={"tool": "ours"},
    )
    assert setting(planned(contender("go"), original=original), []) == [
        Difference(setting="tool", article="wrk", here="ours")
    ]
    assert setting(planned(contender("go")), [run("go")]) == []


def test_cores_memory_and_container_are_those_that_runs_were_given() -> None:
    article = {"container": "Docker", "cores of the server": "2", "memory": "512 MB"}
    asked = planned(contender("go"), original=Original(source="it", year=2016, baseline="go", article=article))
    grouped = setting(asked, [run("go"), run("go", round_=2)])
    assert [(it.setting, it.here) for it in grouped] == [
        ("container", "a cgroup on loopback"),
        ("cores of the server", "1"),
    ]
    rig = msgspec.structs.replace(RIG, contender_cores=(0, 2), memory_bytes=2**30, container="podman 4.3.1")
    contained = setting(asked, [run("go", rig=rig)])
    assert [(it.setting, it.here) for it in contained] == [
        ("container", "one of podman 4.3.1, with the machine's own network, on loopback"),
        ("memory", "1024 MB"),
    ]
    bare = setting(asked, [run("go", rig=msgspec.structs.replace(RIG, cgroup="none"))])
    assert bare[0].here == "none: bare processes, on loopback"
