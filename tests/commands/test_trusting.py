"""Somebody else's commands: refused where nobody can be asked, asked about on a terminal, run with --trust."""

from __future__ import annotations

import os
import pty
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests import shipped
from tests.analyse.fakes import FINGERPRINT
from webdyno.commands import call, trusting
from webdyno.model.trial import Plan
from webdyno.plan import make_plan, narrow
from webdyno.rig.here import Here
from webdyno.session import study
from webdyno.session.trust import MEMORY, Strange, remember_plan
from webdyno.store import FILE, LOGS, Store

Terminal = Callable[[str], Callable[[], str]]


@pytest.fixture(autouse=True)
def canary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that somebody else's command makes; we are in another folder, and nothing is remembered."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "canary"


@pytest.fixture
def theirs(tmp_path: Path, canary: Path) -> str:
    """A catalogue folder from elsewhere."""
    folder = tmp_path / "theirs"
    files = {
        "contenders/evil.toml": 'app = "evil"\nruntime = "evil"\nserver = "s"\nmodel = "m"\n'
        'because = "b"\nauthor = "a"\nserve = ["serve\\u001b[2J", "{port}"]\n',
        "apps/evil/app.toml": 'language = "any"\ninterface = "wsgi"\nframework = "none"\nanswers = ["hello"]\n',
        "apps/evil/serve.sh": "exec true",
        "runtimes/evil.toml": 'kind = "native"\nlanguage = "any"\nfind = ["sh"]\ninstall = "-"\n'
        f"version = ['-c', 'echo 1; touch {canary}']\n",
        "studies/evil.toml": 'title = "t"\nquestion = "q"\ncontenders = ["evil"]\nworkloads = ["hello"]\nrounds = 2\n'
        "[[loads]]\nconnections = [1]\nduration_s = 1\n",
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return str(folder)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """A terminal on which something is typed; what is seen there then."""
    master, slave = pty.openpty()
    files = open(slave, closefd=False), open(slave, "w", closefd=False)  # noqa: SIM115 - closed below

    def typed(text: str) -> Callable[[], str]:
        os.write(master, text.encode())
        monkeypatch.setattr(sys, "stdin", files[0])
        monkeypatch.setattr(sys, "stderr", files[1])
        return seen

    def seen() -> str:
        print("(end)", file=files[1], flush=True)
        out = ""
        while not out.endswith("(end)\r\n"):
            out += os.read(master, 65536).decode()
        return out.removesuffix("(end)\r\n").replace("\r\n", "\n")

    yield typed
    for file in files:
        file.close()
    os.close(slave)
    os.close(master)


@pytest.mark.parametrize(
    "command",
    [
        "run evil",
        "plan evil",
        "check evil",
        "capacity evil --slo p99<1s",
        "compare evil waitress",
        "try --cmd ./x{port} --no-as-user",
        "run --resume results/x",
    ],
)
def test_where_nobody_can_be_asked_it_is_one_sentence_and_nothing_runs(
    command: str, theirs: str, canary: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call([*command.split(), "--catalogue", theirs]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(
        f"webdyno: --catalogue {theirs}: somebody else's, as far as webdyno can tell, and it would run"
    )
    assert r"(contender evil: 'serve\u001b[2J' '{port}'; app evil; on evil; and 1 more)" in line
    assert "--trust" in line
    assert not canary.exists()


@pytest.mark.parametrize(
    "command", ["try --cmd ./x{port}", "try --resume results/x", "compare --rev a --rev b --cmd x{port}"]
)
def test_root_runs_a_strangers_servers_beside_a_project_only_if_root_says_so(
    command: str, theirs: str, canary: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert call([*command.split(), "--trust", "--catalogue", theirs]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"webdyno: --catalogue {theirs}: somebody else's, as far as webdyno can tell, and ")
    assert line.endswith(": run it as another user; --no-as-user gives them all rights of root")
    assert call([*command.split(), "--no-as-user", "--catalogue", theirs]) == 2
    assert "it would run commands (" in capsys.readouterr().err
    assert not canary.exists()


@pytest.mark.parametrize("user", [0, 1000])
def test_an_ordinary_user_and_a_catalogue_of_ones_own_are_not_refused(
    user: int, theirs: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    if user == 0:
        monkeypatch.chdir(tmp_path)
    assert call(["try", "--trust", "--catalogue", theirs]) == 2
    assert "try what? Name an application" in capsys.readouterr().err


def test_with_trust_it_runs_and_is_remembered_until_a_file_of_an_app_changes(theirs: str, canary: Path) -> None:
    call_ = ["plan", "evil", "--catalogue", theirs]
    assert call([*call_, "--trust"]) == 0
    assert canary.exists()
    assert call(call_) == 0
    (Path(theirs) / "apps" / "evil" / "serve.sh").write_text("exec false")
    assert call(call_) == 2


@pytest.mark.parametrize(("user", "more"), [(1000, []), (0, [trusting.AS_ROOT])])
def test_who_says_no_at_a_terminal_has_run_nothing(
    user: int, more: list[str], theirs: str, canary: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    seen = terminal("n\n")
    assert call(["plan", "evil", "--catalogue", theirs]) == 2
    assert not canary.exists()
    *lines, last = [line for line in seen().splitlines() if line != "n"]
    assert lines == [
        f"--catalogue {theirs}: somebody else's, as far as webdyno can tell. It would run:",
        r"  contender evil: 'serve\u001b[2J' '{port}'; app evil; on evil",
        f"  runtime evil: native; one of sh; asked by -c 'echo 1; touch {canary}'",
        *more,
    ]
    assert last == (  # where "n" is typed, a new line begins
        f"Run these commands? [y/N] webdyno: --catalogue {theirs}: none of its commands was run; --trust runs "
        "them without asking"
    )


def test_who_says_yes_at_a_terminal_is_not_asked_again(theirs: str, canary: Path, terminal: Terminal) -> None:
    seen = terminal("y\n")
    assert call(["plan", "evil", "--catalogue", theirs]) == 0
    assert canary.exists()
    assert "Run these commands?" in seen()
    assert call(["plan", "evil", "--catalogue", theirs]) == 0


def test_of_much_the_beginning_is_shown_and_all_of_it_when_asked_for(terminal: Terminal) -> None:
    lines = [f"command {number}" for number in range(22)] + ["x" * 400]
    seen = terminal("a\n\x04")  # Ctrl-D
    assert not trusting.ask(Strange("results/x", lines[:21]))
    out = seen()
    assert out.count("\n  command 19\n") == 2
    assert out.count("\n  command 20\n") == 1
    assert "\n  ... and 1 more\n" in out
    assert "Run these commands? [y/N, a: all of it] " in out
    seen = terminal("y\n")
    assert trusting.ask(Strange("results/x", lines[-1:]))
    assert f"  {'x' * 300}... (100 more characters)\n" in seen()


@pytest.mark.parametrize("command", ["list contenders", "show evil"])
def test_to_look_at_it_is_no_question(command: str, theirs: str, canary: Path) -> None:
    assert call([*command.split(), "--catalogue", theirs]) == 0
    assert not canary.exists()


def test_a_catalogue_below_where_one_works_is_no_question(
    theirs: str, canary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call(["plan", "evil", "--catalogue", "theirs"]) == 0
    assert canary.exists()


# Results folders


@pytest.fixture
def plan() -> Plan:
    """Of the catalogue that comes with webdyno."""
    known = shipped.catalogue()
    few = narrow(known.studies["quickstart"], known, contenders=["waitress"], workloads=["hello"], say=lambda _: None)
    return make_plan(few, known, {})


@pytest.fixture
def stored(plan: Plan, tmp_path: Path, canary: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """A way to have a results folder that somebody made; going on with it ends when all is looked for."""

    @contextmanager
    def on_its_machine(_: Store, *, wait: bool, far: object, as_planned: bool) -> Iterator[Any]:
        assert not wait
        assert not as_planned
        yield Here(), {"engine": "1"}

    def build(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(study, "on_its_machine", on_its_machine)
    monkeypatch.setattr(study, "build", build)

    def make(*, evil: bool = True) -> str:
        made = plan
        if evil:
            (name,) = plan.runtimes
            found = {"kind": "native", "find": ["sh"], "version": ["-c", f"echo 1; touch {canary}"]}
            runtimes = {name: msgspec.structs.replace(plan.runtimes[name], **found)}
            made = msgspec.structs.replace(plan, runtimes=runtimes)
        with Store.create(tmp_path / "r", made, FINGERPRINT):
            pass
        return str(tmp_path / "r")

    return make


def test_only_on_request_a_plan_says_itself_as_whom_its_contenders_run(
    stored: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, asked = stored(evil=False), list[bool]()

    @contextmanager
    def noting(_: Store, *, as_planned: bool, **__: object) -> Iterator[Any]:
        asked.append(as_planned)
        yield Here(), {"engine": "1"}

    monkeypatch.setattr(study, "on_its_machine", noting)
    assert call(["run", "--resume", folder, "--no-as-user"]) == call(["run", "--resume", folder]) == 130
    assert asked == [True, False]
    assert call(["run", "--resume", folder, "--as-user"]) == 2
    assert call(["run", "--resume", folder, "--no-as-user", "--alone"]) == 2


def test_a_command_that_the_catalogue_has_not_is_refused(
    stored: Callable[..., str], canary: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = stored()
    assert call(["run", "--resume", folder]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(
        f"webdyno: {folder}: somebody else's, as far as webdyno can tell, and it would run commands ("
    )
    assert "; asked by -c 'echo 1; touch " in line
    assert "--trust" in line
    assert not canary.exists()


def test_with_trust_it_goes_on_and_is_remembered(stored: Callable[..., str], canary: Path) -> None:
    folder = stored()
    assert call(["run", "--resume", folder, "--trust"]) == 130
    assert canary.exists()
    canary.unlink()
    assert call(["run", "--resume", folder]) == 130
    assert canary.exists()


@pytest.mark.parametrize(("says", "code"), [("y", 130), ("n", 2), ("", 2)])
def test_a_terminal_decides(says: str, code: int, stored: Callable[..., str], canary: Path, terminal: Terminal) -> None:
    folder = stored()
    seen = terminal(f"{says}\n")
    assert call(["run", "--resume", folder]) == code
    assert canary.exists() is (says == "y")
    assert f"{folder}: somebody else's, as far as webdyno can tell. It would run:\n  runtime " in seen()


def test_what_the_catalogue_has_goes_on_unasked(
    stored: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["run", "--resume", stored(evil=False)]) == 130
    assert "trial" in capsys.readouterr().err
    assert not (tmp_path / "state" / "webdyno" / MEMORY).exists()


def test_what_was_begun_here_goes_on_unasked(stored: Callable[..., str], canary: Path) -> None:
    folder = stored()
    with Store.open(Path(folder)) as store:
        remember_plan(store.plan(), Path(folder))
    assert call(["run", "--resume", folder]) == 130
    assert canary.exists()


@pytest.mark.parametrize("name", ["report.html", LOGS, f"{LOGS}/x.contender.log", FILE])
def test_a_link_in_a_results_folder_is_refused(
    name: str, stored: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link = Path(stored(evil=False)) / name
    if link.exists():
        link.rename(tmp_path / "elsewhere")
    link.symlink_to(tmp_path / "elsewhere")
    assert call(["run", "--resume", str(tmp_path / "r")]) == 2
    assert f"{link}: this is a link, and a results folder may not contain links" in capsys.readouterr().err


def renamed(plan: Plan, name: str) -> Plan:
    """With another name of its contender, everywhere."""
    (it,) = plan.contenders.values()
    trials = [msgspec.structs.replace(trial, contender=name) for trial in plan.trials[:1]]
    return msgspec.structs.replace(plan, trials=trials, contenders={name: msgspec.structs.replace(it, name=name)})


@pytest.mark.parametrize("name", ["../../x", "a\0"])
def test_no_name_of_a_plan_leads_out_of_its_folder(
    name: str, plan: Plan, stored: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.create(tmp_path / "r", renamed(plan, name), FINGERPRINT):
        pass
    assert call(["run", "--resume", str(tmp_path / "r"), "--trust"]) == 2
    assert "cannot be a name, for files are named after it" in capsys.readouterr().err


def test_a_workload_may_have_the_name_of_a_path_for_no_file_is_named_after_it(
    plan: Plan, stored: object, tmp_path: Path
) -> None:
    (it,) = plan.workloads.values()
    trials = [msgspec.structs.replace(trial, workload="/") for trial in plan.trials[:1]]
    named = msgspec.structs.replace(plan, workloads={"/": msgspec.structs.replace(it, name="/")}, trials=trials)
    with Store.create(tmp_path / "r", named, FINGERPRINT):
        pass
    assert call(["run", "--resume", str(tmp_path / "r")]) == 130
