"""Node, Go, Rust, native and the JVM: what is asked of the host, and which versions count."""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path

import msgspec
import pytest

from tests.build.conftest import runtime
from tests.build.fake_host import FakeHost
from tests.fakes import contender
from webdyno.build import Job, build, lock_jars
from webdyno.model.built import Found
from webdyno.model.contender import RuntimeKind
from webdyno.model.errors import BuildError, MachineError
from webdyno.rig.host import Command

NODE = Found(runtime="no", program="/opt/node/bin/node", version="v20.20.2")
GO = Found(runtime="go", program="/opt/go/bin/go", version="go version go1.26.8 linux/amd64")


def as_kind(job: Job, kind: RuntimeKind, found: Found, *requires: str) -> Job:
    return job._replace(contender=contender("fast", requires=list(requires)), runtime=runtime(kind), found=found)


def npm(command: Command) -> int:
    """npm ci: what it leaves in node_modules."""
    packages = {
        "node_modules/fast": {"version": "5.3.0"},
        "node_modules/fast/node_modules/deep": {"version": "1.0.0"},
        "node_modules/deep": {"version": "2.0.0"},
        "node_modules/@scope/one": {"version": "3.0.0"},
    }
    hidden = command.cwd / "node_modules" / ".package-lock.json"
    hidden.parent.mkdir()
    hidden.write_text(json.dumps({"packages": packages}))
    return 0


def test_node_without_packages_needs_no_npm(job: Job, tmp_path: Path) -> None:
    host = FakeHost(lambda _: 0)
    built = build(*as_kind(job, "node", NODE), tmp_path, host)
    assert host.commands == []
    assert built.versions == {"no": "v20.20.2"}
    assert "/opt/node/bin" in built.environment["PATH"].split(":")


def test_node_packages_come_from_the_lock_without_install_scripts(job: Job, tmp_path: Path) -> None:
    (job.sources / "package-lock.json").write_text("{}")
    host = FakeHost(npm)
    built = build(*as_kind(job, "node", NODE, "fast@5.3.0"), tmp_path, host)
    assert host.said("npm", "ci", "--ignore-scripts")
    assert built.versions == {"no": "v20.20.2", "fast": "5.3.0", "deep": "2.0.0", "@scope/one": "3.0.0"}
    assert built.environment["PATH"].startswith(f"{built.directory}/node_modules/.bin:")


def test_node_requirements_without_a_lock_are_refused(job: Job, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"needs a package-lock.json that holds fast@5.3.0; npm install writes it$"):
        build(*as_kind(job, "node", NODE, "fast@5.3.0"), tmp_path, FakeHost(npm))


def test_a_node_lock_with_another_version_is_refused(job: Job, tmp_path: Path) -> None:
    (job.sources / "package-lock.json").write_text("{}")
    with pytest.raises(BuildError) as caught:
        build(*as_kind(job, "node", NODE, "fast@5.2.0"), tmp_path, FakeHost(npm))
    assert str(caught.value) == "package-lock.json does not hold fast@5.2.0; write it there, or correct requires"


def go(command: Command) -> str | int:
    """go build, and go version -m of what it built."""
    if "version" in command.argv:
        return f"{command.argv[-1]}/server: go1.26.8\n\tpath\thello\n\tdep\tgithub.com/go-chi/chi/v5\tv5.5.0\th1:x=\n"
    return 0


def test_go_is_compiled_by_the_apps_commands_with_this_toolchain_alone(job: Job, tmp_path: Path) -> None:
    app = msgspec.structs.replace(job.app, build=[["go", "build", "-o", "server", "."]])
    host = FakeHost(go)
    built = build(*as_kind(job, "go", GO, "github.com/go-chi/chi/v5@v5.5.0")._replace(app=app), tmp_path, host)
    assert host.commands[0].argv == ["/opt/go/bin/go", "build", "-o", "server", "."]
    assert host.commands[0].environment["GOTOOLCHAIN"] == "local"
    assert "-trimpath" in host.commands[0].environment["GOFLAGS"]
    assert built.versions == {"go": "go version go1.26.8 linux/amd64", "github.com/go-chi/chi/v5": "v5.5.0"}
    assert built.environment["PATH"].startswith(f"{built.directory}:")


def test_other_commands_are_another_go_build(job: Job, tmp_path: Path) -> None:
    job = as_kind(job, "go", GO)
    other = job._replace(app=msgspec.structs.replace(job.app, build=[["go", "build"]]))
    assert build(*job, tmp_path, FakeHost(go)).key != build(*other, tmp_path, FakeHost(go)).key


RUST = Found(runtime="ru", program="/opt/cargo/bin/cargo", version="cargo 1.95.0")


def cargo(command: Command) -> str | int:
    """cargo build, and cargo tree of what it built."""
    return "small v0.1.0 (/x)\nitoa v1.0.15\nryu v1.0.20\n" if "tree" in command.argv else 0


def test_rust_is_compiled_into_the_apps_own_folder_and_tells_its_crates(job: Job, tmp_path: Path) -> None:
    app = msgspec.structs.replace(job.app, build=[["cargo", "build", "--locked", "--release"]])
    host = FakeHost(cargo)
    built = build(*as_kind(job, "rust", RUST, "itoa@1.0.15")._replace(app=app), tmp_path, host)
    assert host.commands[0].argv == ["/opt/cargo/bin/cargo", "build", "--locked", "--release"]
    environment = host.commands[0].environment
    assert environment["CARGO_TARGET_DIR"] == f"{built.directory}/target"
    assert environment["CARGO_BUILD_BUILD_DIR"] == f"{tmp_path}/crates"
    assert built.versions == {"ru": "cargo 1.95.0", "itoa": "1.0.15", "ryu": "1.0.20"}
    assert built.environment["PATH"].startswith(f"{built.directory}/target/release:")


def test_a_crate_that_is_not_in_the_lock_as_required_is_refused(job: Job, tmp_path: Path) -> None:
    with pytest.raises(BuildError) as caught:
        build(*as_kind(job, "rust", RUST, "itoa@1.0.14"), tmp_path, FakeHost(cargo))
    assert str(caught.value) == "Cargo.lock does not hold itoa@1.0.14; write it there, or correct requires"


NGINX = Found(runtime="na", program="/usr/sbin/nginx", version="nginx version: nginx/1.22.1")


def test_a_native_server_is_what_is_there_with_its_files_beside_it(job: Job, tmp_path: Path) -> None:
    host = FakeHost(lambda _: 0)
    built = build(*as_kind(job, "native", NGINX), tmp_path, host)
    assert host.commands == []
    assert (Path(built.directory) / "app.py").is_file()
    assert built.versions == {"na": "nginx version: nginx/1.22.1"}
    assert "/usr/sbin" in built.environment["PATH"].split(":")


def test_another_native_version_is_another_build(job: Job, tmp_path: Path) -> None:
    job = as_kind(job, "native", NGINX)
    other = job._replace(found=msgspec.structs.replace(NGINX, version="nginx version: nginx/1.24.0"))
    assert build(*job, tmp_path, FakeHost(lambda _: 0)).key != build(*other, tmp_path, FakeHost(lambda _: 0)).key


def test_what_a_native_server_cannot_have_is_refused(job: Job, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"^fast requires nginx=1.22.1, and nothing installs for a native server"):
        build(*as_kind(job, "native", NGINX, "nginx=1.22.1"), tmp_path, FakeHost(lambda _: 0))
    built_app = msgspec.structs.replace(job.app, build=[["make"]])
    with pytest.raises(BuildError, match=r"^app app has build commands"):
        build(*as_kind(job, "native", NGINX)._replace(app=built_app), tmp_path, FakeHost(lambda _: 0))


JAVA = Found(runtime="jv", program="/opt/java/bin/java", version="openjdk 17.0.15")
LISTED = """
The following files have been resolved:
   io.netty:netty-codec-http:jar:4.1.118.Final:compile -- module io.netty.codec.http
   io.netty:netty-transport-native-epoll:jar:linux-x86_64:4.1.118.Final:runtime
   org.slf4j:slf4j-api:jar:2.0.17:runtime -- module org.slf4j
"""


def mvn(command: Command) -> int:
    """mvn package: the list it leaves of what it has copied."""
    if any(word.endswith(":list") for word in command.argv):
        (command.cwd / "target").mkdir()
        (command.cwd / "target" / "dependencies.txt").write_text(LISTED)
    return 0


def test_a_jvm_app_is_packed_by_maven_and_found_by_its_class_path(job: Job, tmp_path: Path) -> None:
    host = FakeHost(mvn)
    built = build(*as_kind(job, "jvm", JAVA, "io.netty:netty-codec-http:4.1.118.Final"), tmp_path, host)
    assert host.commands[0].argv[:5] == ["mvn", "-q", "-B", "-C", "package"]
    assert built.versions == {
        "jv": "openjdk 17.0.15",
        "io.netty:netty-codec-http": "4.1.118.Final",
        "io.netty:netty-transport-native-epoll": "4.1.118.Final",
        "org.slf4j:slf4j-api": "2.0.17",
    }
    assert built.environment["CLASSPATH"] == f"{built.directory}/target/classes:{built.directory}/target/lib/*"
    assert "/opt/java/bin" in built.environment["PATH"].split(":")


def with_jars(command: Command) -> int:
    """mvn package of an app with one library."""
    status = mvn(command)
    (command.cwd / "target" / "lib").mkdir()
    (command.cwd / "target" / "lib" / "slf4j-api-2.0.17.jar").write_bytes(b"library")
    return status


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (f"{hashlib.sha256(b'library').hexdigest()}  slf4j-api-2.0.17.jar\n", None),
        (
            f"{hashlib.sha256(b'other').hexdigest()}  slf4j-api-2.0.17.jar\n",
            r"^the file of slf4j-api-2.0.17.jar is not the",
        ),
        ("", r"^jars.sha256 beside pom.xml has no hash of slf4j-api-2.0.17.jar; lock the contender again$"),
    ],
)
def test_libraries_of_a_jvm_app_have_to_be_those_that_were_locked(
    line: str, problem: str | None, job: Job, tmp_path: Path
) -> None:
    (job.sources / "jars.sha256").write_text(line)
    with contextlib.nullcontext() if problem is None else pytest.raises(BuildError, match=problem):
        build(*as_kind(job, "jvm", JAVA), tmp_path, FakeHost(with_jars))


def test_the_libraries_of_a_pom_are_locked_by_their_hashes(tmp_path: Path) -> None:
    def copies(command: Command) -> int:
        assert command.argv[command.argv.index("-f") + 1] == str(tmp_path / "pom.xml")
        (folder,) = [word.partition("=")[2] for word in command.argv if word.startswith("-DoutputDirectory=")]
        (Path(folder) / "b-1.jar").write_bytes(b"library")
        (Path(folder) / "a-1.jar").write_bytes(b"library")
        return 0

    lock_jars(tmp_path / "jars.sha256", FakeHost(copies))
    digest = hashlib.sha256(b"library").hexdigest()
    assert (tmp_path / "jars.sha256").read_text() == f"{digest}  a-1.jar\n{digest}  b-1.jar\n"
    with pytest.raises(MachineError, match=r"^mvn could not fetch what .*pom.xml names"):
        lock_jars(tmp_path / "jars.sha256", FakeHost(lambda _: 1))


def test_a_jvm_app_may_bring_its_own_commands(job: Job, tmp_path: Path) -> None:
    app = msgspec.structs.replace(job.app, build=[["mvn", "-q", "-B", "verify"]])
    host = FakeHost(mvn)
    build(*as_kind(job, "jvm", JAVA)._replace(app=app), tmp_path, host)
    assert [command.argv for command in host.commands] == [["mvn", "-q", "-B", "verify"]]


def test_a_library_that_is_not_in_the_pom_as_required_is_refused(job: Job, tmp_path: Path) -> None:
    with pytest.raises(BuildError) as caught:
        build(*as_kind(job, "jvm", JAVA, "org.slf4j:slf4j-api:2.0.16"), tmp_path, FakeHost(mvn))
    assert str(caught.value) == (
        "pom.xml does not hold org.slf4j:slf4j-api:2.0.16; write it there, or correct requires"
    )
