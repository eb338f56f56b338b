"""``webdyno compare`` from end to end: contenders by name, and two revisions of a real repository."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path

import pytest

from tests.live.conftest import CATALOGUE, Call
from tests.live.test_capacity import nothing_left
from tests.live.test_run import start, wait_for_runs
from tests.session.test_revisions import git
from webdyno.session.reports import rendered
from webdyno.store import Store

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]
SHORT = ("--pairs", "4", "-d", "200ms", "--warmup", "50ms", "-c", "4")
OUTCOMES = {0: ("same", "better"), 1: ("worse",), 3: ("cannot tell",)}
BODY = '--expect=body=="Hello, World!"'


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A toy server in two revisions, and a third that ends at once."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    source = (CATALOGUE / "apps" / "toy" / "toy.py").read_text()
    slower = source.replace("            answers += 1\n", "            answers += 1\n            time.sleep(0.01)\n", 1)
    for text in (source, slower, "raise SystemExit('cannot even start')\n"):
        (folder / "toy.py").write_text(text)
        git(folder, "add", "-A")
        git(folder, "commit", "--quiet", "-m", "next")
    return folder


def revisions(base: str, head: str, repository: Path) -> tuple[str, ...]:
    command = ("--cmd", "python3 toy.py {port} good", "--repo", str(repository), BODY)
    return ("compare", "--results", "results", "--rev", base, "--rev", head, *command, *SHORT)


def test_contenders_are_measured_in_pairs(webdyno: Call, tmp_path: Path, cache: Path) -> None:
    done = webdyno("compare", "toy-good", "odd-none", "--results", "results", *SHORT, "--json")
    said = json.loads(done.stdout)
    assert said["outcome"] in OUTCOMES[done.returncode], done.stderr
    assert (said["base"], said["head"]) == ("toy-good", "odd-none")
    (folder,) = (tmp_path / "results").iterdir()
    with Store.open(folder) as store:
        order = [(run.trial.contender, run.trial.round) for run in store.runs()]
    assert order[:4] == [("toy-good", 1), ("odd-none", 1), ("odd-none", 2), ("toy-good", 2)]
    assert nothing_left(cache)


def test_a_slower_revision_is_found_and_nothing_stays(webdyno: Call, repository: Path, cache: Path) -> None:
    done = webdyno(*revisions("main~2", "main~1", repository), "--build", "cp toy.py built.py", "--format", "md")
    assert done.returncode == 1, done.stderr
    assert "is slower than base (main\\~2" in done.stdout
    assert git(repository, "worktree", "list").count("\n") == 0
    assert git(repository, "status", "--porcelain") == ""
    assert nothing_left(cache)


def test_a_revision_that_does_not_serve_is_worse(webdyno: Call, repository: Path, cache: Path) -> None:
    done = webdyno(*revisions("main~2", "main", repository))
    assert done.returncode == 1
    assert "head failed: exited-at-start" in done.stdout
    assert "cannot even start" in done.stdout
    assert nothing_left(cache)


def test_a_revision_that_does_not_build_is_said_with_its_log(webdyno: Call, repository: Path, cache: Path) -> None:
    build = ("--build", "grep -q 'even start' toy.py && echo of all things && exit 5; true")
    done = webdyno(*revisions("main~2", "main", repository), *build)
    assert done.returncode == 1
    assert "does not build: could not build it by" in done.stderr
    assert "  | of all things" in done.stderr
    done = webdyno(*revisions("main", "main~2", repository), *build)
    assert done.returncode == 3
    assert nothing_left(cache)


def test_ctrl_c_leaves_nothing_behind(
    environment: dict[str, str], repository: Path, tmp_path: Path, cache: Path
) -> None:
    process = start(environment, tmp_path, *revisions("main~2", "main~2", repository)[:-8], "--pairs", "18")
    wait_for_runs(tmp_path / "results", 2)
    process.send_signal(signal.SIGINT)
    _, complaints = process.communicate(timeout=30)
    assert process.returncode == 130, complaints
    assert "to see the pairs so far: webdyno compare results/compare-" in complaints
    assert "to go on: webdyno compare --resume results/compare-" in complaints
    assert not list(cache.glob("webdyno-*-*"))
    assert nothing_left(cache)


def test_a_comparison_that_was_stopped_goes_on_with_the_commits_it_began_with(
    webdyno: Call, environment: dict[str, str], repository: Path, tmp_path: Path, cache: Path
) -> None:
    process = start(environment, tmp_path, *revisions("main~2", "main~1", repository))
    wait_for_runs(tmp_path / "results", 2)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    (folder,) = (tmp_path / "results").iterdir()
    git(repository, "commit", "--allow-empty", "--quiet", "-m", "main has moved")
    done = webdyno("compare", "--resume", str(folder), "--json")
    said = json.loads(done.stdout)
    assert said["outcome"] in OUTCOMES[done.returncode], done.stderr
    with Store.open(folder) as store:
        runs = [run for run in store.runs() if run.outcome != "interrupted"]
        made = store.plan().paired
    assert sorted(run.trial.contender for run in runs) == ["base"] * 4 + ["head"] * 4
    assert made is not None and made.revisions is not None
    assert {run.versions["revision"] for run in runs} == set(made.revisions.commits)
    assert nothing_left(cache)


def test_without_git_history_nothing_is_started(webdyno: Call, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "results", ignore_errors=True)
    done = webdyno(*revisions("main", "main", tmp_path))
    assert done.returncode == 2
    assert "this is no git repository" in done.stderr
    assert not (tmp_path / "results").exists()


@pytest.mark.measures  # it failed once beside others, in hundreds, and never by itself
def test_the_value_of_a_variable_is_in_no_record_and_no_report(
    webdyno: Call, repository: Path, tmp_path: Path, cache: Path
) -> None:
    reads = "import os, sys; assert os.environ['TOKEN'] == 'hunter' + '2:' + sys.argv[1], os.environ; import toy"
    command = ("--cmd", f'python3 -c "{reads}" {{port}} good', "--env", "TOKEN=hunter2:{port}")
    ends = ("--repo", str(repository), BODY, "--results", "results", *SHORT, "--budget", "1s")
    done = webdyno("compare", "--rev", "main~2", "--rev", "main~2", *command, *ends)
    assert done.returncode in OUTCOMES, done.stderr
    assert "the budget is spent after 1 pair\n" in done.stderr
    assert "failed" not in done.stdout
    (folder,) = (tmp_path / "results").iterdir()
    files = [path.read_bytes() for path in folder.iterdir() if path.is_file()]
    with Store.open(folder) as store:
        told = [repr(store.runs()), repr(store.plan()), rendered(store, "html"), done.stdout, done.stderr]
    assert "sys.argv[1]" in told[1]
    for content in [*files, *(text.encode() for text in told)]:
        assert b"hunter2" not in content
    assert nothing_left(cache)
