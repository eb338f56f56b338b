"""Bad calls: one sentence on standard error that names the flag and what to try, the right exit code, no traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from webdyno.commands import COMMANDS, call, make_app

WRONG = [
    ("run quickstrat", "there is no study 'quickstrat'; did you mean 'quickstart'?"),
    ("run", "run what? Name a study (see: webdyno list studies), a study file, or --resume FOLDER"),
    ("run quickstart --brief", "--brief: study 'quickstart' has no brief version; shorten it with --rounds"),
    ("run quickstart --rounds x", 'Invalid value for --rounds: unable to convert "x" into int.'),
    ("run quickstart --rounds 0", "--rounds 0: a plan needs at least 1 round; 3 or more give an interval"),
    ("run quickstart --rond 3", "Unknown option: --rond. Did you mean --rounds?"),
    ("run quickstart --drivers 4 --driver wrk", "--drivers 4: wrk cannot share a load; use --driver engine"),
    ("run quickstart --drivers 900", "--drivers 900: give 1 to 64, because each has its own connection"),
    ("run quickstart -c 0", "--connections 0: give whole numbers of at least 1, such as --connections 8,64,256"),
    ("run quickstart -d 5x", "--duration 5x: give a duration such as 500ms, 2s or 1m"),
    ("run quickstart -d 0s", "--duration 0s: give a duration such as 500ms, 2s or 1m"),
    ("run quickstart -d 1e300h", "--duration 1e300h: that is too long, give up to 24h"),
    ("run quickstart --budget inf", "--budget inf: that is too long, give up to 1000h"),
    ("run quickstart -c 9999999", "--connections 9999999: give at most 1,000,000 connections"),
    (
        "run quickstart --memory 9999999999G",
        "--memory 9999999999G: no machine has that much memory; give a size such as",
    ),
    ("run quickstart --driver wrk3", "--driver wrk3: there is no such driver; there are: engine, wrk, wrk2, ab"),
    ("run quickstart -k nobody", "there is no contender 'nobody'; "),
    ("run quickstart -w nothing", "there is no workload 'nothing'; see: webdyno list workloads"),
    ("run quickstart --memory lots", "--memory lots: give a size such as 512M or 2G, or none"),
    ("run --resume /no/where", "/no/where: no results here (no results.sqlite)"),
    ("run quickstart --resume /no/where", "--resume continues a plan as it was made; it takes no study"),
    ("plan /no/where.toml", "/no/where.toml: there is no such study file"),
    ("report /no/where", "/no/where: no results here (no results.sqlite)"),
    ("report /etc/passwd", "/etc/passwd is damaged or not a results file"),
    ("export /no/where", "/no/where: no results here (no results.sqlite)"),
    ("view /no/where", "/no/where: there is no such folder; `webdyno run STUDY` makes results, or name another"),
    ("view --port 70000", "--port 70000: give a number from 0 to 65535; 0 takes any free port"),
    ("run quickstart --metrics /no/where/m", "--metrics /no/where/m: give a file in a folder that exists"),
    ("run quickstart --metrics /tmp", "--metrics /tmp: give a file in a folder that exists"),
    ("show nobdy", "nothing in the catalogue is called 'nobdy'; did you mean 'node'?"),
    ("check", "check what? Name contenders (see: webdyno list), or --study NAME"),
    ("check tornad", "there is no contender 'tornad'; did you mean 'tornado'?"),
    ("check tornado -w counte", "--workload counte: there is no such workload; did you mean 'counter'?"),
    ("check tornado -w static", "--workload static: tornado does not answer it; it answers hello, greeting, json"),
    ("list nothing", 'Invalid value "nothing" for KIND.'),
    ("list --study nothing", "--study nothing: there is no such study; "),
    ("list --study battel", '--study battel: there is no such study; did you mean "battle"?'),
    ("list --catalogue /no/where", "/no/where: does not exist; a catalogue is a folder that holds"),
    ("try", "try what? Name an application (myapp:app), the command of a server (--cmd 'node server.js {port}'), a"),
    ("try a:b -c 0", "--connections 0: give a whole number of at least 1"),
    ("try a:b --budget soon", "--budget soon: give a duration such as 500ms, 2s or 1m"),
    ("try a:b -C /no/where", "--folder /no/where: there is no such folder"),
    (
        "try a:b --url http://x",
        "--url loads a server that is already running; it excludes an app, --cmd and --current",
    ),
    ("try a:b -b @/no/where", "--body @/no/where: /no/where cannot be read: No such file or directory"),
    ("try a:b -H nonsense", "--header 'nonsense': write it as 'Name: value'"),
    ("try a:b --path items", "--path items: a path begins with a slash, as in --path /api/items"),
    ("try a:b --expect fast", "--expect 'fast' is not a rule; write 'status==200'"),
    ("try a:b --env-file /no/where", "--env-file /no/where: it cannot be read: No such file or directory"),
    ("try a:b -c 9999999", "--connections 9999999: give at most 1,000,000 connections"),
    (
        "try --cmd x{port} -k waitress",
        "--server selects servers of the catalogue for an application; name an application",
    ),
    ("try a:b --openapi --path /a", "--openapi picks the paths itself; give either --openapi or --path"),
    ("try --url http://x --openapi", "--openapi needs an application; for a server that is already running"),
    ("try --url http://x --save out", "--url takes only --path, -H, -m, -b, --expect, -c, --budget and --json"),
    ("try --url http://x --budget 2s", "--budget 2s: 5 rounds take at least 5 s"),
    ("try --url http://x --path a", "--path a: a path begins with a slash, as in --path /api/items"),
    ("load ftp://x", "ftp://x: give a URL such as http://127.0.0.1:8000/path"),
    ("load http://127.0.0.1:99999/", "http://127.0.0.1:99999/: its port is not a number from 1 to 65535"),
    ("load http://127.0.0.1:0/", "http://127.0.0.1:0/: its port is not a number from 1 to 65535"),
    ("load 127.0.0.1:80 -c 0", "--connections 0: give a whole number of at least 1"),
    ("load 127.0.0.1:80 -c 9999999", "--connections 9999999: give at most 1,000,000 connections"),
    ("load 127.0.0.1:80 -n 99999999999999999999", "--requests 99999999999999999999: give a whole number of at least 1"),
    ("load 127.0.0.1:80 --timeout 2h", "--timeout 2h: that is too long, give up to 1h"),
    ("load 127.0.0.1:80 --hdr /no/where", "--hdr /no/where cannot be written (No such file or directory)"),
    ("load 127.0.0.1:80 --hdr /", "--hdr / cannot be written (Is a directory): give another place"),
    ("load 127.0.0.1:80 -t 0", "--threads 0: give a whole number of at least 1"),
    ("load 127.0.0.1:80 -n 5 -d 1s", "--requests and --duration exclude each other: give how many or how long"),
    ("load 127.0.0.1:80 -r 0", "--rate 0: give requests per second, above 0 and up to 10,000,000"),
    ("load 127.0.0.1:80 --poisson", "--poisson, --max-connections and --drain need --rate"),
    ("load 127.0.0.1:80 -r 5 --seed 3", "--seed needs --poisson or --template: nothing else is random"),
    ("load 127.0.0.1:80 -r 5 --max-connections 3", "--max-connections 3: give at least --connections, which is 64"),
    ("load 127.0.0.1:80 --slo fast", "--slo 'fast' is not an objective; write latencies as p99<50ms"),
    ("load 127.0.0.1:80 --slo p99>50ms", "--slo 'p99>50ms' is not an objective; write latencies as p99<50ms"),
    ("load 127.0.0.1:80 --slo p99<50", "--slo 'p99<50' is not an objective; write latencies as p99<50ms"),
    ("load 127.0.0.1:80 -H nonsense", "--header 'nonsense': write it as 'Name: value'"),
    ("load 127.0.0.1:80 -b @/no/where", "--body @/no/where: /no/where cannot be read: No such file or directory"),
    ("load 127.0.0.1:80 --timeout soon", "--timeout soon: give a duration such as 500ms, 2s or 1m"),
    ("load", "load what? Give a URL such as http://127.0.0.1:8000/path"),
    ("load a:80 b:80", "b:80 is a different server from a:80: a load has one server"),
    ("load http://a https://a", "https://a is a different server from http://a: a load has one server"),
    ("load 0=a:80", "0=a:80: a weight is a whole number of at least 1, as in 3=a:80"),
    ("load http://me:pw@a/", "http://me:***@a/: a name and password in a URL are not sent"),
    ("load a:80 --insecure", "--insecure, --cacert, --server-name and --no-resume need an https:// URL"),
    ("load https://a --cacert /no/where", "--cacert /no/where cannot be read: No such file or directory"),
    ("load https://a --cacert /etc/hostname", "--cacert /etc/hostname has no certificate"),
    ("load https://a --insecure --cacert /no/where", "--insecure and --cacert exclude each other"),
    ("load a:80 --unix /no/where", "--unix /no/where does not exist: give the path a server listens on"),
    ("load a:80 --unix /etc", "--unix /etc is not a socket: give the path a server listens on"),
    ("load a:80 --source here", "--source here: give an IPv4 or IPv6 address of this machine"),
    ("load a:80 --cpus 9999", "--cpus 9999: processor 9999 is not usable here; there are 0"),
    ("load a:80 --cpus x", "--cpus x: write processor numbers, such as 0,2-3"),
    ("load a:80 --streams 4", "--streams needs --http2"),
    ("load a:80 --http2 --close", "--http2 keeps its connections and has streams: leave out --close and --pipeline"),
    ("load a:80/{{counter}} --http2 --template", "--template and --http2 exclude each other"),
    ("load a:80 --http2 --http1.0", "--http1.0 and --http2 exclude each other"),
    ("load a:80 --pipeline 999", "--pipeline 999: give a whole number from 1 to 256"),
    ("load a:80 --pipeline 9 --close", "--pipeline needs HTTP/1.1 and keep-alive"),
    ("load a:80 --linger never", 'Invalid value "never" for --linger.'),
    ("load a:80 --stages fast", "--stages 'fast': 'fast' is not a stage; write LENGTH:RATE or LENGTH:FROM-TO"),
    ("load a:80 --stages 1s:5 -d 3s", "--stages already has the duration: leave out --duration and --requests"),
    ("load a:80 --stages 1s:5 -r 3", "--rate and --stages exclude each other: a load has one schedule"),
    ("load a:80 --stages 1s:0", "--stages '1s:0': give requests per second, above 0 somewhere"),
    ("load a:80 --stages 1x:5", "--stages 1x: give a duration such as 500ms, 2s or 1m"),
    ("load a:80 --burst 5", "--burst '5': write SIZE/EVERY, as in 100/50ms"),
    ("load a:80 --burst 5/1s --poisson", "--poisson needs --rate: arrivals in stages and bursts are not random"),
    ("load a:80 -c 2 --drivers 4", "--drivers 4: give 1 to 2, because each needs at least one connection"),
    ("load a:80 --drivers 0", "--drivers 0: give 1 to 64, because each needs at least one connection"),
    ("load a:80 -n 3 --drivers 4", "--drivers 4: give --requests 4 or more, because each needs at least one"),
    ("load a:80 --stages 2s:1-9connections --drivers 2", "--drivers and --stages of connections exclude each other"),
    ("load a:80 --opening 2s --warmup 1s", "--opening 2s: this is a part of the warm-up; give --warmup 2s or more"),
    ("load a:80 -r 5 --opening 1s --warmup 2s", "--opening needs a fixed number of looping clients: leave out"),
    ("load a:80 -r 5 -n 5 --drain 1s", "--drain needs a duration: with --requests every answer is waited for"),
    ("load a:80 --template", "--template fills {{counter}}, {{random}} and {{random:1-9}}"),
    ("load a:80 --expect fast", "--expect 'fast' is not a rule; write 'status==200'"),
    ("load a:80 --expect status==20", "--expect 'status==20' is not a rule; write 'status==200'"),
    ("load a:80 --expect status==999", "--expect: status 999 is not the status of a final answer (200 to 599)"),
    ("load a:80 --expect length==1 --expect length==2", "--expect 'length==2': length was given before"),
    ("load a:80 --expect sha256==ab", "--expect: sha256 is not a SHA-256; write 64 digits"),
    ("load a:80 -m HEAD --expect length==1", "--expect: length contradicts method HEAD"),
    ("load a:80 --requests-file /no/where", "/no/where: cannot be read: No such file or directory"),
    ("load a:80/x --requests-file /no/where", "--requests-file /no/where: give one URL without a path"),
    ("load a:80 -m GET --requests-file /no/where", "--method and --requests-file exclude each other"),
    ("load a:80 --json --csv", "--json and --csv exclude each other: the result has one format"),
    ("load a:80 --style jmeter", 'Invalid value "jmeter" for --style.'),
    ("capacity /etc --slo p99<50ms", "/etc: no results here (no results.sqlite)"),
    ("capacity waitres --slo p99<50ms", "there is no contender 'waitres'; did you mean 'waitress'? A URL begins with"),
    ("capacity waitress --slo p99<50ms --seed -1", "--seed -1: give a whole number of at least 0"),
    ("capacity waitress --slo p99<50ms -d 2000h", "--duration 2000h: that is too long, give up to 24h"),
    ("compare a b -c 9999999", "--connections 9999999: give at most 1,000,000 connections"),
    ("report /no/where --json -f md", "--json and --format md exclude each other: a report has one format"),
    ("compare a b --json -f md", "--json and --format md exclude each other: the answer has one format"),
    ("lock nobody", "there is no contender 'nobody'; "),
    ("completion tcsh", 'Invalid value "tcsh" for SHELL.'),
    ("doctor now", "'now' needs --quiet: webdyno doctor --quiet -- COMMAND"),
    ("report a b c", "'b' 'c': more than webdyno report takes (try: webdyno report --help)"),
    ("frobnicate", 'Unknown command "frobnicate".'),
    ("rnu", 'Unknown command "rnu". Did you mean "run"?'),
    ("quickstart --rounds 5", "quickstart is not a command; did you mean: webdyno run quickstart --rounds 5"),
    ("quickstrat", "quickstrat is not a command; did you mean: webdyno run quickstart"),
    ("mine.toml", "mine.toml is not a command; did you mean: webdyno run mine.toml"),
    ("waitress", "waitress is not a command; did you mean: webdyno run quickstart -k waitress"),
    ("http://a:80/x", "http://a:80/x is not a command; did you mean: webdyno load http://a:80/x"),
    ("show", "show what? Name a contender, study, workload, app, runtime, service or matrix (see: webdyno list)"),
    ("plan", "plan what? Name a study (see: webdyno list studies), or a study file"),
    ("export", "export what? Name a results folder, such as results/quickstart-20261120-143000"),
    ("lock", "lock what? Name contenders (see: webdyno list)"),
    ("load", "load what? Give a URL such as http://127.0.0.1:8000/path"),
    ("capacity", "capacity of what? Name a contender (see: webdyno list), give a URL, or --resume FOLDER"),
    ("compare", "compare what? Give two results folders, two contenders, or --rev BASE --rev HEAD"),
    ("completion", "completion for which shell? Name bash, zsh or fish"),
    ("run quickstart --rounds", "--rounds needs a value: Number of rounds instead of the study's"),
    ("run quickstart -k", "-k needs a value: Contenders to use instead of the study's: -k a,b"),
    ("load https://a -k", "-k names contenders wherever it is a flag; to accept any certificate, give --insecure"),
    ("capacity https://a -k --slo p99<9ms", "-k names contenders wherever it is a flag; to accept any certificate"),
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
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WEBDYNO_LOCK", str(tmp_path))  # somebody may be measuring on this machine
    monkeypatch.setenv("WEBDYNO_CACHE", "/proc/no/cache/can/be/here")
    assert call(["doctor"]) == 3
    said = capsys.readouterr().err
    assert said.startswith("webdyno: /proc/no")
    assert said.count("\n") == 1


def test_a_temporary_folder_that_is_not_there_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TMPDIR", "/no/where")
    assert call(["check", "wsgiref"]) == 3
    assert capsys.readouterr().err == (
        "webdyno: TMPDIR is /no/where, where nothing can be written: make that folder, or name another one\n"
    )


@pytest.mark.parametrize(
    "line",
    [
        "run smoke --results /etc/hostname",
        "capacity waitress --slo p99<9ms --results /etc/hostname",
        "capacity http://127.0.0.1:1/ --slo p99<9ms --results /etc/hostname",
        "compare waitress cheroot --results /etc/hostname/x",
        "try a:b --save /etc/hostname",
        "run smoke --results /proc/x",  # where root may write, and nothing can be made
        "capacity waitress --slo p99<9ms --results /proc/x/y",
        "compare waitress cheroot --results /proc/x",
        "try a:b --save /proc/x",
    ],
)
def test_a_folder_that_cannot_be_made_is_told_before_anything_is_built(
    line: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WEBDYNO_LOCK", str(tmp_path))
    monkeypatch.setenv("WEBDYNO_CACHE", str(tmp_path / "cache"))
    assert call(line.split()) == (4 if line.startswith("compare") else 3)
    said = capsys.readouterr().err
    assert said.startswith("webdyno: /")
    assert "cannot be made" in said
    assert said.endswith("give a folder you may write to\n")
    assert said.count("\n") == 1
    assert not (tmp_path / "cache").exists()


def test_of_compare_a_machine_that_cannot_do_it_is_exit_code_four_for_three_is_undecided(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TMPDIR", "/no/where")
    assert call(["compare", "wsgiref", "waitress"]) == 4
    assert capsys.readouterr().err.startswith("webdyno: TMPDIR is /no/where")


def test_a_flag_of_one_letter_that_names_contenders_means_nothing_else() -> None:
    app = make_app()
    named = {
        command: argument.names[0]
        for command in COMMANDS
        for argument in app[command].assemble_argument_collection()
        if "-k" in argument.names
    }
    assert named == {"run": "--contender", "plan": "--contender", "try": "--server"}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call([command, "--help"]) == 0
    assert f"webdyno {command}" in capsys.readouterr().out.split("Example:")[1]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_prints_every_word_that_was_written(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Help is Markdown, in which a pattern that is not quoted as code loses its asterisks."""
    monkeypatch.setenv("COLUMNS", "400")
    app = make_app(command)
    assert app([command, "--help"], exit_on_error=False) is None
    printed = " ".join(capsys.readouterr().out.split())
    written = [argument.parameter.help for argument in app[command].assemble_argument_collection()]
    assert any(written)
    for text in filter(None, written):
        assert text.replace("`", "") in printed


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
