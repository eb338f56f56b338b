"""Bad calls: one sentence on standard error that names the flag and what to try, the right exit code, no traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from webdyno.commands import COMMANDS, call

WRONG = [
    ("run quickstrat", "there is no study 'quickstrat'; did you mean 'quickstart'?"),
    ("run", "run what? Name a study (see: webdyno list studies), a study file, or --resume FOLDER"),
    ("run quickstart --rounds x", 'Invalid value for --rounds: unable to convert "x" into int.'),
    ("run quickstart --rounds 0", "--rounds 0: a plan needs at least 1 round; 3 or more give an interval"),
    ("run quickstart --rond 3", "Unknown option: --rond. Did you mean --rounds?"),
    ("run quickstart -c 0", "--connections 0: give whole numbers of at least 1, such as --connections 8,64,256"),
    ("run quickstart -d 5x", "--duration 5x: give a length of time such as 500ms, 2s or 1m"),
    ("run quickstart -d 0s", "--duration 0s: give a length of time such as 500ms, 2s or 1m"),
    ("run quickstart --driver wrk3", "--driver wrk3: there is no such driver; there are: engine, wrk, ab"),
    ("run quickstart -k nobody", "there is no contender 'nobody'; "),
    ("run quickstart -w nothing", "there is no workload 'nothing'; see: webdyno list workloads"),
    ("run quickstart --memory lots", "--memory lots: give a size such as 512M or 2G, or none"),
    ("run --resume /no/where", "/no/where: no results here (no results.sqlite)"),
    ("run quickstart --resume /no/where", "--resume continues a plan as it was made; it takes no study"),
    ("plan /no/where.toml", "/no/where.toml: there is no such study file"),
    ("report /no/where", "/no/where: no results here (no results.sqlite)"),
    ("report /etc/passwd", "/etc/passwd is damaged or not a results file"),
    ("export /no/where", "/no/where: no results here (no results.sqlite)"),
    ("show nobdy", "nothing in the catalogue is called 'nobdy'; did you mean 'node'?"),
    ("check", "check what? Name contenders (see: webdyno list), or --study NAME"),
    ("check tornad", "there is no contender 'tornad'; did you mean 'tornado'?"),
    ("check tornado -w counte", "--workload counte: there is no such workload; did you mean 'counter'?"),
    ("check tornado -w static", "--workload static: tornado does not answer it; it answers hello, json"),
    ("list nothing", 'Invalid value "nothing" for KIND.'),
    ("list --study nothing", "--study nothing: there is no such study; there are: quickstart"),
    ("list --catalogue /no/where", "/no/where: does not exist; a catalogue is a folder that holds"),
    ("load ftp://x", "ftp://x: give a URL such as http://127.0.0.1:8000/path"),
    ("load https://127.0.0.1", "https://127.0.0.1: TLS is not spoken yet"),
    ("load http://127.0.0.1:99999/", "http://127.0.0.1:99999/: its port is not a number from 1 to 65535"),
    ("load 127.0.0.1:80 -c 0", "--connections 0: give a whole number of at least 1"),
    ("load 127.0.0.1:80 -t 0", "--threads 0: give a whole number of at least 1"),
    ("load 127.0.0.1:80 -n 5 -d 1s", "--requests and --duration exclude each other: give how many or how long"),
    ("load 127.0.0.1:80 -r 0", "--rate 0: give requests per second, above 0 and up to 10,000,000"),
    ("load 127.0.0.1:80 --poisson", "--poisson, --seed and --max-connections go with --rate"),
    ("load 127.0.0.1:80 -r 5 --seed 3", "--seed goes with --poisson: even arrivals need none"),
    ("load 127.0.0.1:80 -r 5 --max-connections 3", "--max-connections 3: give at least --connections, which is 64"),
    ("load 127.0.0.1:80 --slo fast", "--slo 'fast' is no objective; write latencies as p99<50ms"),
    ("load 127.0.0.1:80 --slo p99>50ms", "--slo 'p99>50ms' is no objective; write latencies as p99<50ms"),
    ("load 127.0.0.1:80 --slo p99<50", "--slo 'p99<50' is no objective; write latencies as p99<50ms"),
    ("load 127.0.0.1:80 -H nonsense", "--header 'nonsense': write it as 'Name: value'"),
    ("load 127.0.0.1:80 -b @/no/where", "--body @/no/where: /no/where cannot be read: No such file or directory"),
    ("load 127.0.0.1:80 --timeout soon", "--timeout soon: give a length of time such as 500ms, 2s or 1m"),
    ("lock nobody", "there is no contender 'nobody'; see: webdyno list"),
    ("completion tcsh", 'Invalid value "tcsh" for SHELL.'),
    ("frobnicate", 'Unknown command "frobnicate".'),
]


@pytest.mark.parametrize(("line", "sentence"), WRONG)
def test_a_wrong_call_is_one_sentence_and_exit_code_two(
    line: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(line.split()) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"webdyno: {sentence}")
    assert said.err.count("\n") == 1


def test_what_a_driver_cannot_do_is_said_before_anything_is_built(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("shutil").which("ab") or pytest.skip("ab is not installed")
    assert call(["run", "quickstart", "--driver", "ab", "-d", "1500ms"]) == 2
    assert "ab counts whole seconds, the duration is 1.5 s: give 2 s or use --driver engine" in capsys.readouterr().err


def test_what_the_machine_refuses_is_one_sentence_and_exit_code_three(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WEBDYNO_CACHE", "/proc/no/cache/can/be/here")
    assert call(["doctor"]) == 3
    said = capsys.readouterr().err
    assert said.startswith("webdyno: /proc/no")
    assert said.count("\n") == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call([command, "--help"]) == 0
    assert f"webdyno {command}" in capsys.readouterr().out.split("Example:")[1]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(command in script for command in COMMANDS)


def test_a_typo_in_a_file_names_file_line_key_and_the_nearest_spelling(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "contenders").mkdir()
    file = tmp_path / "contenders" / "mine.toml"
    file.write_text('app = "python-wsgi"\nruntime = "cpython-3.11"\nservr = "mine"\n')
    assert call(["list", "--catalogue", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"webdyno: {file}:3: servr: ")
    assert "server" in said


@pytest.mark.parametrize(
    "line", ["plan quickstart -k tornado-db -w static", "plan quickstart -k tornado-db -w counter"]
)
def test_a_wrong_variable_of_a_service_is_named(
    line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", "localhost")
    assert call(line.split()) == 2
    assert capsys.readouterr().err == (
        "webdyno: REDIS_URL in the environment must look like redis://localhost:6379/0 (or rediss:// for TLS)\n"
    )
