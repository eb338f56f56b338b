"""Whose commands these are: what a line holds, which catalogue folders are the user's own, what is remembered."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.analyse import fakes
from webdyno.model.catalogue import Catalogue
from webdyno.model.contender import App, Contender, Runtime
from webdyno.model.errors import UsageError
from webdyno.model.load import Load
from webdyno.model.paired import Paired, Revisions
from webdyno.model.service import Service, Way
from webdyno.model.sought import Sought
from webdyno.model.trial import Plan
from webdyno.model.tried import Outset, Sources, Tried
from webdyno.model.workload import Request
from webdyno.read import default_folder, read_catalogue
from webdyno.session import trust
from webdyno.session.by_url import url_plan
from webdyno.session.executed import HARMLESS, lines_of, lines_of_plan, lines_of_try, visible
from webdyno.session.target import one_server
from webdyno.store import Store

PLAN = fakes.plan([fakes.run()])
SERVED = {"go": fakes.contender("go", serve=["serve", "{port}"], environment={"A": "b c"}, requires=["x==1"])}
SERVICE = Service(
    name="s", title="", protocol="redis", variable="URL", url="redis://{host}", genuine="s", ways=[], install=""
)
OUTSET = Outset(
    ready_s=1,
    slowest_s=1,
    alone_s=1,
    notes=[],
    compilers=[],
    memory_bytes=None,
    profiles=False,
    token="t",
    built={},
    packages={},
    sources=Sources(),
)
TRIED = Tried(
    folder="/shop",
    budget="10m",
    budget_s=600,
    requests=[Request(name="/", path="/")],
    by_schema=False,
    is_unsaid=True,
    connections=8,
    outset=OUTSET,
)


def holding(**nouns: Any) -> Catalogue:
    none: dict[str, Any] = {"contenders": {}, "apps": {}, "runtimes": {}, "workloads": {}, "studies": {}}
    return Catalogue(**{**none, "app_directories": {}, "locks": {}, **nouns})


class Asked(list[trust.Strange]):
    """What a user was asked about, who says the same each time."""

    def __init__(self, says: bool = True) -> None:
        self.says = says

    def __call__(self, strange: trust.Strange) -> bool:
        self.append(strange)
        return self.says


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing is remembered yet."""
    folder = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return folder / "webdyno" / trust.MEMORY


# Lines


def test_a_line_has_all_that_is_executed_and_installed() -> None:
    app = App(
        name="a",
        language="Go",
        interface="native",
        framework="none",
        requires=["y==2"],
        answers=[],
        build=[["go", "build"], ["strip", "it"]],
    )
    runtime = Runtime(name="r", kind="node", language="JS", find=["bun"], version=["-v"], package="bun@1", install="")
    ways = [
        Way(kind="url"),
        Way(kind="program", find=["redis-server"], serve=["{program}", "--port"]),
        Way(kind="embedded", runtime="jvm", requires=["m==1"], build=[["mvn"]], serve=["java"]),
    ]
    service = msgspec.structs.replace(SERVICE, ways=ways)
    assert lines_of(holding(contenders=SERVED, apps={"a": app}, runtimes={"r": runtime}, services={"s": service})) == [
        f"contender go: 'A=b c' serve '{{port}}'; app {SERVED['go'].app}; on {SERVED['go'].runtime}; installs x==1",
        "app a; installs y==2; builds by go build; builds by strip it",
        "runtime r: node; one of bun; asked by -v; npm brings bun@1",
        "service s: redis; given by URL; at 'redis://{host}' | url | program; one of redis-server; "
        "starts '{program}' --port | embedded; on jvm; installs m==1; builds by mvn; starts java",
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"serve": ["serve", "{port}", "more"]},
        {"serve": ["serve {port}"]},
        {"environment": {"LD_PRELOAD": "x.so"}},
        {"requires": ["x==1", "evil==1"]},
        {"requires": ["x==1 evil==1"]},
        {"app": "another; on there"},
    ],
)
def test_no_two_definitions_that_execute_something_else_share_a_line(changes: dict[str, Any]) -> None:
    other = msgspec.structs.replace(SERVED["go"], **changes)
    assert lines_of(holding(contenders={"go": other})) != lines_of(holding(contenders=SERVED))


@pytest.mark.parametrize(
    ("kind", "noun"),
    [
        ("contenders", SERVED["go"]),
        ("apps", App(name="a", language="", interface="", framework="", answers=[], requires=["x==1"])),
        ("runtimes", Runtime(name="r", kind="go", language="", find=["go"], version=[], install="")),
        ("services", SERVICE),
    ],
)
def test_every_field_is_in_the_line_but_those_that_execute_nothing(kind: str, noun: Any) -> None:
    before = lines_of(holding(**{kind: {"it": noun}}))
    for field in msgspec.structs.fields(noun):
        other = msgspec.structs.replace(noun, **{field.name: another(getattr(noun, field.name), field.name)})
        is_same = lines_of(holding(**{kind: {"it": other}})) == before
        assert is_same is (field.name in HARMLESS[type(noun)].split()), field.name


def another(value: Any, name: str) -> Any:
    """Something else in its place, of the same type where that matters to a line."""
    if name == "build":
        return [["make"]]
    if name == "ways":
        return [Way(kind="program", find=["evil"])]
    return {**value, "A": "x"} if isinstance(value, dict) else [*value, "x"] if isinstance(value, list) else "other"


def test_a_field_that_no_line_names_is_in_it_when_it_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(HARMLESS, Contender, HARMLESS[Contender].replace("ready_s", ""))
    (line,) = lines_of(holding(contenders={"go": msgspec.structs.replace(SERVED["go"], ready_s=7.5)}))
    assert line.endswith("; installs x==1; ready_s 7.5")


def test_revisions_a_url_and_a_try_are_lines_too() -> None:
    revisions = Revisions(
        repository="/shop", revs=["a", "b"], commits=["1", "2"], cmd="go run", builds=["make all"], variables=["DSN"]
    )
    paired = Paired(load=Load(connections=1, duration_s=1), margin=0.03, most=8, budget_s=1, revisions=revisions)
    assert lines_of_plan(msgspec.structs.replace(PLAN, paired=paired))[-3:] == [
        "git clone /shop; at 1 2",
        "build: sh -c 'make all'",
        "serve: 'go run'",
    ]
    (target,) = one_server(("http://shop.example/x",))
    requests = [Request(name="r", method="POST", path="/x", headers=[("Cookie", "secret")], body="a b")]
    assert lines_of_plan(url_plan("capacity", target, requests, "t", "q")) == [
        "load on http://shop.example/x; asks POST /x -H 'Cookie: ***' -b 'a b'"
    ]
    asked = {"app": "shop:app", "current": "gunicorn x", "commands": ["node s.js"], "images": ["mine:1"]}
    files = {"python": "/py", "env_file": "/shop/.env", "container_port": 80}
    assert lines_of_try(msgspec.structs.replace(TRIED, **asked, **files)) == [
        "application shop:app; by /py; in /shop; with the variables of /shop/.env",
        "command 'gunicorn x'; by /py; in /shop; with the variables of /shop/.env",
        "command 'node s.js'; by /py; in /shop; with the variables of /shop/.env",
        "image mine:1; port 80; in /shop; with the variables of /shop/.env",
    ]


def test_what_steers_a_terminal_or_is_not_seen_there_is_escaped() -> None:
    assert visible("a\x1b[2Jb\r\nc\u202ed é") == r"a\u001b[2Jb\r\nc\u202ed é"


# Plans


def asked_of(plan: Plan, known: Catalogue, says: bool = True) -> Asked:
    asked = Asked(says)
    trust.ask_for_plan(plan, Path("results/x"), known, asked)
    return asked


def test_what_the_catalogue_has_is_not_asked_about_and_what_it_has_not_is() -> None:
    known = holding(contenders=PLAN.contenders, apps=PLAN.apps, runtimes=PLAN.runtimes)
    assert asked_of(PLAN, known) == []
    changed = msgspec.structs.replace(PLAN, contenders={"go": fakes.contender("go", serve=["evil"])})
    (strange,) = asked_of(changed, known)
    assert strange.where == "results/x"
    assert [line.partition(";")[0] for line in strange.lines] == ["contender go: evil"]


def test_what_was_begun_here_or_agreed_to_is_not_asked_about_again(state: Path) -> None:
    trust.remember_plan(PLAN, Path("results/x"))
    assert asked_of(PLAN, holding()) == []
    other = msgspec.structs.replace(PLAN, contenders={"go": fakes.contender("go", serve=["evil"])})
    assert len(asked_of(other, holding())) == 1
    assert asked_of(other, holding()) == []
    assert [line.partition(" ")[2] for line in state.read_text().splitlines()] == ["results/x", "agreed to: results/x"]
    assert state.stat().st_mode & 0o077 == 0
    state.unlink()
    assert len(asked_of(PLAN, holding())) == 1


def test_a_plan_is_the_same_when_it_is_read_again_though_secrets_are_not(tmp_path: Path) -> None:
    served = fakes.contender(
        "go", serve=["x", "-H", "Cookie: abc", "redis://me:secret@h"], environment={"A": "u://b:c@d"}
    )
    plan = msgspec.structs.replace(PLAN, contenders={"go": served})
    with Store.create(tmp_path / "r", plan, fakes.FINGERPRINT):
        pass
    with Store.open(tmp_path / "r") as store:
        assert lines_of_plan(store.plan()) == lines_of_plan(plan)
    assert "secret" not in str(lines_of_plan(plan))


def test_who_says_no_has_run_nothing_and_is_asked_again() -> None:
    with pytest.raises(UsageError, match="results/x: none of its commands was run; --trust runs them without asking"):
        asked_of(PLAN, holding(), says=False)
    assert len(asked_of(PLAN, holding())) == 1


def test_where_nobody_can_be_asked_the_sentence_has_the_first_command_and_the_flag() -> None:
    lines = [f"contender evil: rm\x1b -rf {'x' * 500}", "app a", "app b"]
    with pytest.raises(UsageError) as error:
        trust.refuse(trust.Strange("results/\x1bx", lines))
    said = str(error.value)
    assert said.startswith(r"results/\u001bx: somebody else's")
    assert r"(contender evil: rm\u001b -rf xxx" in said
    assert "...; and 2 more): " in said
    assert "--trust" in said
    assert len(said) < 400


def test_a_memory_that_cannot_be_written_costs_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/proc")
    trust.remember_plan(PLAN, Path("results/x"))
    assert len(asked_of(PLAN, holding())) == 1


def test_a_memory_that_somebody_else_wrote_is_not_believed(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trust.remember_plan(PLAN, Path("results/x"))
    monkeypatch.setattr(trust, "_is_mine", lambda _: False)
    assert len(asked_of(PLAN, holding())) == 1


def test_a_try_is_its_commands() -> None:
    tried, asked = msgspec.structs.replace(TRIED, commands=["./serve {port}"]), Asked()
    trust.ask_for_try(tried, Path("r"), asked)
    trust.ask_for_try(msgspec.structs.replace(tried, budget_s=1.0), Path("r"), asked)
    assert [strange.lines for strange in asked] == [["command './serve {port}'; in /shop"]]
    trust.ask_for_try(msgspec.structs.replace(tried, folder="/elsewhere"), Path("r"), asked)
    assert len(asked) == 2


def test_a_search_by_url_is_asked_about() -> None:
    sought = Sought(slo="", budget_s=1, duration_s=1, warmup_s=0, first_per_s=1, most_per_s=1, precision=0.1)
    (target,) = one_server(("http://victim.example/",))
    made = url_plan("capacity", target, [Request(name="r", path="/")], "t", "q")
    (strange,) = asked_of(msgspec.structs.replace(made, sought=sought), read_catalogue([default_folder()]))
    assert strange.lines == ["load on http://victim.example/; asks GET /"]


# Catalogues


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The home folder, with a project of the user's in it, where they are."""
    (tmp_path / "home" / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "home" / "project")
    before = os.umask(0o022)
    yield tmp_path / "home"
    os.umask(before)


def catalogue_in(folder: Path) -> Path:
    """A contender and its app."""
    (folder / "contenders").mkdir(parents=True)
    (folder / "apps" / "shop" / "inside").mkdir(parents=True)
    (folder / "contenders" / "shop.toml").write_text(
        'app = "shop"\nruntime = "cpython-3.11"\nserver = "s"\nmodel = "m"\nserve = ["s", "{port}"]\n'
        'because = "b"\nauthor = "a"\n'
    )
    (folder / "apps" / "shop" / "app.toml").write_text(
        'language = "Python"\ninterface = "wsgi"\nframework = "none"\nanswers = ["hello"]\n'
    )
    (folder / "apps" / "shop" / "app.py").write_text("1")
    (folder / "apps" / "shop" / "inside" / "data").write_text("1")
    return folder


def test_below_where_one_works_it_is_ones_own(home: Path) -> None:
    assert trust.is_own(catalogue_in(home / "project" / "mine"))
    assert not trust.is_own(catalogue_in(home / "downloads" / "theirs"))


@pytest.mark.parametrize(
    ("repository", "folder", "own"),
    [
        ("project", "project/mine", True),
        ("project", "mine", False),
        ("project", "downloads/x", False),
        ("project/theirs", "project/theirs/bench", False),  # a clone in the project
        (".", "project/mine", True),  # settings in the home folder
        (".", "downloads/theirs", False),
    ],
)
def test_a_repository_is_one_place(repository: str, folder: str, own: bool, home: Path) -> None:
    (home / "project" / "sub").mkdir()
    (home / repository / ".git").mkdir(parents=True)
    assert trust.is_own(catalogue_in(home / folder)) is own


def test_in_a_repository_one_may_stand_anywhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "project" / ".git").mkdir()
    (home / "project" / "sub").mkdir()
    monkeypatch.chdir(home / "project" / "sub")
    assert trust.is_own(catalogue_in(home / "project" / "mine"))


@pytest.mark.parametrize("where", ["home", "."])
def test_all_below_the_home_folder_is_not_ones_own_for_standing_there(
    where: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home.parent / where)
    assert not trust.is_own(catalogue_in(home / "downloads" / "theirs"))


@pytest.mark.parametrize("path", [".", "mine", "mine/apps", "mine/contenders/shop.toml", "mine/apps/shop/inside/data"])
def test_what_others_can_write_is_not_ones_own(path: str, home: Path) -> None:
    folder = catalogue_in(home / "project" / "mine")
    changed = home / "project" / path
    changed.chmod(changed.stat().st_mode | 0o002)
    assert not trust.is_own(folder)


def test_what_a_group_can_write_is_ones_own_only_where_it_is_ones_own_group(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = catalogue_in(home / "project" / "mine")
    (folder / "apps").chmod(0o775)
    for is_private in (True, False):
        monkeypatch.setattr(trust, "_is_private", lambda _, it=is_private: it)
        assert trust.is_own(folder) is is_private


def test_what_somebody_else_owns_is_not_ones_own(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = catalogue_in(home / "project" / "mine")
    monkeypatch.setattr(trust, "_is_mine", lambda _: False)
    assert not trust.is_own(folder)


@pytest.mark.parametrize(
    ("user", "sudo", "mine"), [(1000, "", [0, 1000]), (1000, "1001", [0, 1000]), (0, "", [0]), (0, "1001", [0, 1001])]
)
def test_the_user_is_who_calls_root_and_who_became_root(
    user: int, sudo: str, mine: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setenv("SUDO_UID", sudo)
    seen = {uid: trust._is_mine(os.stat_result((0, 0, 0, 0, uid, 0, 0, 0, 0, 0))) for uid in (0, 1000, 1001, 1002)}
    assert [uid for uid in seen if seen[uid]] == mine


def test_a_link_that_leads_elsewhere_is_not_ones_own(home: Path) -> None:
    folder, elsewhere = catalogue_in(home / "project" / "mine"), catalogue_in(home / "downloads" / "x")
    (folder / "apps" / "theirs").symlink_to(elsewhere / "apps" / "shop")
    assert not trust.is_own(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "contenders" / "shop.toml").write_text("x"),
        lambda folder: (folder / "apps" / "shop" / "app.py").write_text("2"),
        lambda folder: (folder / "apps" / "shop" / "inside" / "data").write_text("2"),
        lambda folder: (folder / "apps" / "shop" / "app.py").rename(folder / "apps" / "shop" / "main.py"),
        lambda folder: (folder / "apps" / "shop" / "more").symlink_to("/etc/hostname"),
        lambda folder: (folder / "locks").mkdir(),
        lambda folder: (folder.parent / "beside" / "app.py").write_text("2"),
        lambda folder: (folder / "apps" / "again").unlink() or (folder / "apps" / "again").symlink_to("shop/inside"),
    ],
)
def test_every_change_is_another_content(change: Callable[[Path], object], tmp_path: Path) -> None:
    folder = catalogue_in(tmp_path / "theirs")
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "app.py").write_text("1")
    (folder / "apps" / "linked").symlink_to(tmp_path / "beside")
    (folder / "apps" / "again").symlink_to("shop")
    (folder / "apps" / "shop" / "round").symlink_to("..")
    before = trust.content_of(folder)
    (folder / "README.md").write_text("what is not read of it")
    assert trust.content_of(folder) == before
    change(folder)
    assert trust.content_of(folder) != before


def test_a_strangers_catalogue_is_asked_about_once_and_again_when_a_file_of_an_app_changes(home: Path) -> None:
    folder, asked = catalogue_in(home / "theirs"), Asked()
    known = read_catalogue([default_folder(), folder])
    for _ in range(2):
        trust.ask_for_catalogues([folder], known, asked)
    assert [strange.lines for strange in asked] == [["contender shop: s '{port}'; app shop; on cpython-3.11"]]
    assert asked[0].where == f"--catalogue {folder}"
    (folder / "apps" / "shop" / "app.py").write_text("2")
    trust.ask_for_catalogues([folder], known, asked)
    assert len(asked) == 2
    asked.says = False
    (folder / "apps" / "shop" / "app.py").write_text("3")
    with pytest.raises(UsageError, match="none of its commands was run"):
        trust.ask_for_catalogues([folder], known, asked)


def test_one_that_one_works_on_is_not_asked_about_whatever_changes(home: Path) -> None:
    folder = catalogue_in(home / "project" / "mine")
    trust.ask_for_catalogues([folder], read_catalogue([default_folder(), folder]), trust.refuse)


# As whom


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)


def a_strangers(folder: Path) -> Path:
    (folder / "contenders").mkdir(parents=True)
    (folder / "contenders" / "x.toml").write_text("")
    folder.chmod(0o777)  # anybody may write there
    return folder


@pytest.mark.usefixtures("root")
def test_root_runs_a_strangers_catalogue_as_throwaway_users_also_after_agreeing_to_it(tmp_path: Path) -> None:
    folder = a_strangers(tmp_path / "theirs")
    assert trust.throwaway(None, [folder])
    trust.ask_for_catalogues([folder], holding(contenders=SERVED), trust.allow)
    assert trust.throwaway(None, [folder])
    assert not trust.throwaway(None, [])
    assert trust.throwaway(None, [], wanted=True)


@pytest.mark.usefixtures("root")
def test_what_was_said_counts_and_a_strangers_study_cannot_take_it_back(tmp_path: Path) -> None:
    folder = a_strangers(tmp_path / "theirs")
    assert not trust.throwaway(False, [folder])
    assert trust.throwaway(True, [])
    assert trust.throwaway(None, [folder], wanted=False)  # as its study says


def test_an_ordinary_user_gets_them_only_on_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert not trust.throwaway(None, [a_strangers(tmp_path / "theirs")])
    assert trust.throwaway(True, [])


@pytest.mark.usefixtures("root")
def test_a_stored_plan_that_began_elsewhere_is_carried_out_by_throwaway_users_whatever_it_says() -> None:
    assert trust.throwaway_for(PLAN)
    trust.ask_for_plan(PLAN, Path("results/x"), holding(), trust.allow)
    assert trust.throwaway_for(PLAN)
    other = msgspec.structs.replace(PLAN, contenders={"go": fakes.contender("go", serve=["mine"])})
    trust.remember_plan(other, Path("results/y"))
    assert not trust.throwaway_for(other)
    assert trust.throwaway_for(msgspec.structs.replace(other, as_user=True))


@pytest.mark.usefixtures("root")
def test_a_stored_plan_of_webdynos_own_contenders_is_carried_out_as_it_says() -> None:
    known = read_catalogue([default_folder()])
    it = known.contenders["waitress"]
    nouns = {"contenders": {it.name: it}, "apps": {it.app: known.apps[it.app]}}
    ours = msgspec.structs.replace(PLAN, runtimes={it.runtime: known.runtimes[it.runtime]}, services={}, **nouns)
    assert not trust.throwaway_for(ours)
