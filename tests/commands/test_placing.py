"""--far and the flags that go with it, as every command takes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from webdyno.commands import call
from webdyno.commands.placing import Placing, Spreading
from webdyno.model.place import Cluster


@pytest.mark.parametrize("flag", ["--allow-public", "--insecure-cluster"])
@pytest.mark.parametrize(
    "command", [["run", "quickstart"], ["doctor"], ["capacity", "http://127.0.0.1:1/", "--slo", "p99<1s"]]
)
def test_what_goes_with_far_is_refused_without_it(
    command: list[str], flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call([*command, flag]) == 2
    assert f"{flag} needs another machine" in capsys.readouterr().err


def test_a_url_is_loaded_from_the_host_that_is_typed_on(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    results = ["--results", str(tmp_path)]
    assert call(["capacity", "http://127.0.0.1:1/", "--slo", "p99<1ms", "--far", "auto", *results]) == 2
    assert "--far starts a contender here" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_flags_make_a_cluster_and_a_command_line_again() -> None:
    placing = Placing(far="10.0.0.1:6379", insecure_cluster=True)
    assert placing.cluster == Cluster(address="10.0.0.1:6379", insecure=True)
    assert placing.arguments == ["--far", "10.0.0.1:6379", "--insecure-cluster"]
    assert Placing().cluster is None and Placing().arguments == []


def test_a_fleet_is_asked_for_with_its_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    spreading = Spreading(far="10.0.0.1:6379", fleet=True)
    assert spreading.cluster == Cluster(address="10.0.0.1:6379", fleet=True)
    assert spreading.arguments == ["--far", "10.0.0.1:6379", "--fleet"]
    assert call(["run", "quickstart", "--fleet"]) == 2
    assert "--fleet needs another machine" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["capacity", "waitress", "--slo", "p99<1s"], ["load", "http://10.0.0.9:1/"]])
def test_only_a_study_is_shared_by_a_fleet(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert call([*command, "--far", "10.0.0.1:6379", "--fleet"]) == 2
    assert "--fleet" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["http://localhost:1/"], "from another host, localhost is that host itself"),
        (["http://127.0.0.1:1/"], "from another host, 127.0.0.1 is that host itself"),
        (["http://10.0.0.9:1/", "--cpus", "0"], "--cpus is about this machine"),
        (["http://10.0.0.9:1/", "--source", "10.0.0.1"], "--source is about this machine"),
    ],
)
def test_a_load_from_elsewhere_refuses_what_is_of_this_machine(
    more: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["load", *more, "--far", "10.0.0.1:6379"]) == 2
    assert said in capsys.readouterr().err
