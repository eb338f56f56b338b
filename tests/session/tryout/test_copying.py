"""What is to be copied, and that it is what a shell, systemd and a platform read."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from webdyno.commands.options import catalogue_of
from webdyno.session.tryout.command import command_settings
from webdyno.session.tryout.copying import Around, Copied, to_copy
from webdyno.session.tryout.envfile import how_read, read_env_file
from webdyno.session.tryout.fitting import base_setting
from webdyno.session.tryout.installing import home_of
from webdyno.session.tryout.project import Project, Said

KNOWN = catalogue_of(None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with an environment of its own."""
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "pyvenv.cfg").touch()
    return tmp_path


def project(folder: Path, target: str = "shop:app", python: Path | None = None, **packages: str) -> Project:
    said = Said(version=[3, 11, 7], implementation="cpython", base="/usr/bin/python3", folders=[], packages=packages)
    return Project(
        folder=folder,
        python=python or folder / ".venv/bin/python",
        how="",
        variables={},
        target=target,
        interface="wsgi",
        said=said,
    )


def copied(name: str, own: Project, **around: object) -> Copied:
    contender = KNOWN.contenders[name]
    setting = base_setting(contender, own, "/cache/x", 2)
    told = Around(project=own, folder=own.folder, cores=2, cache=Path("/cache"), **around)  # type: ignore[arg-type]
    return to_copy(setting, (contender, KNOWN.app_directories[contender.app]), told)


def test_a_command_can_be_copied_in_every_form(folder: Path) -> None:
    text = copied("gunicorn-sync", project(folder, pip="24"))
    command = "gunicorn --bind {} --workers 5 --worker-class sync --backlog 2048 --log-level warning shop:app"
    assert text.command == ".venv/bin/" + command.format("127.0.0.1:8000")
    assert text.procfile == "web: " + command.format("0.0.0.0:$PORT")
    assert text.dockerfile.startswith('CMD ["gunicorn", "--bind", "0.0.0.0:8000"')
    assert f"ExecStart={folder}/.venv/bin/gunicorn --bind 127.0.0.1:8000" in text.systemd
    assert f"WorkingDirectory={folder}\n" in text.systemd
    assert text.install.startswith(".venv/bin/python -m pip install gunicorn==")
    assert (text.files, text.needs, text.variables) == ({}, "", "")


def test_what_a_server_needs_of_the_system_is_told_with_it(folder: Path) -> None:
    assert copied("bjoern", project(folder)).needs.endswith("apt-get install libev-dev gcc python3-dev")


def test_an_environment_without_pip_is_installed_into_by_uv(folder: Path) -> None:
    text = copied("waitress", project(folder))
    assert text.install.startswith("uv pip install --python .venv/bin/python waitress==")


def test_what_packages_are_held_to_is_installed_by_uv_from_files(folder: Path) -> None:
    text = copied("meinheld", project(folder, pip="24"))
    held = "--overrides webdyno-overrides.txt --build-constraints webdyno-build-constraints.txt"
    assert text.install.startswith(f"uv pip install --python .venv/bin/python {held} meinheld==")
    assert text.files["webdyno-overrides.txt"].startswith("greenlet==")
    assert text.files["webdyno-build-constraints.txt"].startswith("setuptools==")


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ({"requirements.txt": ""}, "python3.11 -m venv .venv && .venv/bin/python -m pip install -r requirements.txt"),
        (
            {"pyproject.toml": '[project]\nname="a"\nversion="1"\ndependencies=["b"]\n'},
            "uv venv --python 3.11 .venv && uv pip install --python .venv/bin/python -r pyproject.toml",
        ),
        ({"pyproject.toml": '[project]\nname="a"\nversion="1"\n', "uv.lock": ""}, "uv sync --python 3.11"),
        ({}, None),
    ],
)
def test_an_environment_of_webdynos_own_is_made_anew_in_the_project(
    tmp_path: Path, files: dict[str, str], line: str | None
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    python = tmp_path / "cache" / "environments" / "x" / "bin" / "python"
    if line is None:  # the system's own, which takes no packages
        python = Path("/usr/bin/python3")
        line = "/usr/bin/python3 -m venv --system-site-packages .venv"
    home = home_of(project(tmp_path, python=python), tmp_path / "cache")
    assert (home.programs, home.make) == (".venv/bin", line)
    assert home.install(["x==1"]).startswith(f"{line} && ")
    assert home.install(["x==1"]).endswith(" x==1")
    assert home.install([]) == line


def test_an_environment_elsewhere_is_named_whole(tmp_path: Path) -> None:
    elsewhere = tmp_path / "envs"
    (elsewhere / "bin").mkdir(parents=True)
    (elsewhere / "pyvenv.cfg").touch()
    text = copied("gunicorn-sync", project(tmp_path / "shop", python=elsewhere / "bin" / "python"))
    assert text.command.startswith(f"{elsewhere}/bin/gunicorn ")


def test_a_server_without_a_command_line_comes_with_its_script(folder: Path) -> None:
    text = copied("waitress", project(folder))
    assert text.command.startswith(".venv/bin/python serve_waitress.py 127.0.0.1 8000")
    assert "from shop import app\n" in text.files["serve_waitress.py"]
    compile(text.files["serve_waitress.py"], "serve_waitress.py", "exec")


def test_an_application_that_is_made_comes_with_a_module_that_makes_it(folder: Path) -> None:
    text = copied("waitress", project(folder, "shop:create_app()"))
    assert text.files["serving.py"] == "from shop import create_app\n\napp = create_app()\n"
    assert "from serving import app\n" in text.files["serve_waitress.py"]
    assert copied("gunicorn-sync", project(folder, "shop:create_app()")).command.endswith("serving:app")


def test_an_application_of_another_name_is_renamed_in_the_script(folder: Path) -> None:
    text = copied("waitress", project(folder, "shop.wsgi:application"))
    assert "from shop.wsgi import application as app\n" in text.files["serve_waitress.py"]


def of_command(text: str, folder: Path = Path("/srv/shop"), env_file: Path | None = None) -> Copied:
    (setting,) = command_settings(text, "cmd", "--cmd", 2)
    return to_copy(setting, None, Around(project=None, folder=folder, cores=2, cache=Path("/cache"), env_file=env_file))


@pytest.mark.parametrize(
    ("command", "procfile"),
    [
        ("serve --limit-max-requests 8000 --port {port}", "serve --limit-max-requests 8000 --port $PORT"),
        ("serve --listen=tcp-in:{bind}", "serve --listen=tcp-in:0.0.0.0:$PORT"),
        ("serve 'a b' '-l={host}:{port} x'", "serve 'a b' -l=0.0.0.0:$PORT' x'"),
        ("serve {port}s ''", "serve ${PORT}s ''"),
    ],
)
def test_only_the_port_of_a_command_is_asked_of_a_procfile(command: str, procfile: str) -> None:
    copied = of_command(command)
    assert copied.procfile == f"web: {procfile}"
    script = f'set -- {procfile}; printf "%s\\n" "$@"'
    shown = subprocess.run(["/bin/sh", "-c", script], env={"PORT": "8000"}, capture_output=True, check=True)
    assert json.dumps(shown.stdout.decode().split("\n")[:-1]) == copied.dockerfile.removeprefix("CMD ")


def test_a_unit_starts_a_program_of_the_folder_by_its_whole_path_and_its_words_as_they_are() -> None:
    unit = of_command(r"""./bin/../serve {port} 'say "hi"' 'a\b' 50% '$HOME' "it's" ';' plain=1""").systemd
    assert (
        r'ExecStart=/srv/shop/serve 8000 "say \"hi\"" "a\\b" 50%% $$HOME "it' + r"""'s" ";" plain=1""" + "\n"
    ) in unit
    assert "WorkingDirectory=/srv/50%%\n" in of_command("./serve {port}", Path("/srv/50%")).systemd
    assert "ExecStart=/srv/50%%/a$b 8000\n" in of_command("'./a$b' {port}", Path("/srv/50%")).systemd


def test_the_variables_of_a_command_go_with_it_and_port_where_only_that_says_it() -> None:
    text = of_command("A='b c' npm start")
    assert text.command == "A='b c' PORT=8000 npm start"
    assert text.procfile == "web: A='b c' npm start"
    assert text.dockerfile == 'ENV A="b c"\nENV PORT="8000"\nCMD ["npm", "start"]'
    assert 'Environment="A=b c"\nEnvironment=PORT=8000\nExecStart=' in text.systemd
    assert of_command("serve {port}").command == "serve 8000"
    assert of_command("AT={bind} serve").procfile == "web: AT=0.0.0.0:$PORT serve"


PLAIN = "A=1\nB='two words'\n# comment\nC=\"three\"\nD=\n"


def test_a_shell_and_a_unit_are_given_the_file_of_variables(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(PLAIN)
    text = of_command("./serve {port}", tmp_path, tmp_path / ".env")
    assert text.command == f"set -a; . {tmp_path}/.env; set +a; ./serve 8000"
    assert f"\nEnvironmentFile={tmp_path}/.env\nExecStart={tmp_path}/serve 8000\n" in text.systemd
    assert text.variables == ""


def test_what_systemd_cannot_read_a_shell_reads_for_it(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"export {PLAIN}E=f # said\n")
    text = of_command("./serve {port}", tmp_path, tmp_path / ".env")
    assert "EnvironmentFile" not in text.systemd
    started = r'ExecStart=/bin/sh -c "set -a; . \"$$0\"; exec \"$$@\"" '
    assert f"{started}{tmp_path}/.env {tmp_path}/serve 8000\n" in text.systemd
    assert text.variables == ""


def test_lines_that_nobody_else_reads_so_are_named_and_no_value_is(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=1\nexport B=two words\nC=secret$x # said\n")
    text = of_command("./serve {port}", tmp_path, tmp_path / ".env")
    assert text.variables.startswith(
        f"lines 2 and 3 of {tmp_path}/.env have different meanings in a shell and in systemd"
    )
    assert "secret" not in repr(text)


def test_the_names_of_variables_that_were_typed_are_told(folder: Path) -> None:
    text = copied("waitress", project(folder), names=["A", "B"])
    assert text.variables == "variables given by --env must be set where it runs: A and B"


LINES = [
    "A=1",
    "A=http://u:p@h/#frag",
    "A='a # b $c \\n'",
    'A="two words" # said',
    "export A=1",
    "A=two words",
    "A = 1",
    "A=a$b",
    'A="a\\nb"',
    "A=it's",
    "A='it'x",
    "A=#x",
    "A=a#b",
    "A=",
    "A=~/x",
]


@pytest.mark.parametrize("line", LINES)
def test_a_line_said_to_be_read_alike_by_a_shell_is(tmp_path: Path, line: str) -> None:
    file = tmp_path / "variables"
    file.write_text(f"{line}\n")
    shown = subprocess.run(
        ["/bin/sh", "-c", '. "$0"; printf %s "$A"', str(file)], capture_output=True, check=False, env={"HOME": "/root"}
    )
    alike = shown.returncode == 0 and shown.stdout.decode() == read_env_file(file)["A"]
    told = how_read(file).by_shell == []
    assert alike or not told
    assert told == alike or line == "A=#x"  # where it is only feared, it is few


def test_what_systemd_reads_otherwise_is_known(tmp_path: Path) -> None:
    file = tmp_path / "variables"
    file.write_text("\n".join(LINES))
    otherwise = {LINES[number - 1] for number in how_read(file).by_systemd}
    assert otherwise == {
        'A="two words" # said',
        "export A=1",
        'A="a\\nb"',
        "A=it's",
        "A='it'x",
    }
