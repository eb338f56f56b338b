"""Ruby, which the distribution brings with its servers; and what a contender is served with beside its runtime."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.build.conftest import FOUND, runtime
from tests.build.fake_host import FakeHost
from tests.fakes import contender
from webdyno.build import Job, build
from webdyno.model.built import Found
from webdyno.model.errors import BuildError
from webdyno.rig.host import Command

RUBY = Found(runtime="ru", program="/opt/ruby/bin/ruby", version="ruby 3.1.2p20")
PUMA = Found(runtime="puma", program="/opt/puma/bin/puma", version="puma version 5.6.5")
NGINX = Found(runtime="nginx", program="/usr/sbin/nginx", version="nginx version: nginx/1.22.1")


def has_gems(*gems: str) -> FakeHost:
    def ruby(command: Command) -> str | int:
        return "".join(f"{gem}\n" for gem in gems) if "-e" in command.argv else 0

    return FakeHost(ruby)


def as_ruby(job: Job, *requires: str) -> Job:
    (job.sources / "config.ru").write_text("run app\n")
    return job._replace(contender=contender("fast", requires=list(requires)), runtime=runtime("ruby"), found=RUBY)


def test_a_ruby_app_is_put_there_and_looked_through_and_nothing_is_installed(job: Job, tmp_path: Path) -> None:
    host = has_gems("rack:2.2.22", "puma:5.6.5")
    built = build(*as_ruby(job), tmp_path, host)
    assert [command.argv[1] for command in host.commands] == ["-e", "-c"]
    assert host.said("/opt/ruby/bin/ruby", "-c", f"{built.directory}/config.ru")
    assert built.versions == {"ru": "ruby 3.1.2p20", "rack": "2.2.22", "puma": "5.6.5"}
    assert built.environment["PATH"].startswith("/opt/ruby/bin:")


def test_the_newest_of_several_gems_is_the_one_that_counts(job: Job, tmp_path: Path) -> None:
    built = build(*as_ruby(job), tmp_path, has_gems("rack:2.2.22", "rack:2.10.1", "rack:2.9.0"))
    assert built.versions["rack"] == "2.10.1"


def test_another_gem_on_the_machine_is_another_build(job: Job, tmp_path: Path) -> None:
    job = as_ruby(job)
    keys = {build(*job, tmp_path, has_gems(f"rack:{version}")).key for version in ("2.2.22", "3.1.0", "2.2.22")}
    assert len(keys) == 2


def test_a_gem_that_is_not_there_as_required_is_refused(job: Job, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"^this machine's Ruby does not hold puma:6.4.0"):
        build(*as_ruby(job, "puma:6.4.0"), tmp_path, has_gems("puma:5.6.5"))


def test_a_source_that_ruby_cannot_read_is_a_failed_build(job: Job, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"^could not read config.ru: ruby ended with status 1$"):
        build(*as_ruby(job), tmp_path, FakeHost(lambda command: "" if "-e" in command.argv else 1))


def test_build_commands_of_a_ruby_app_are_refused(job: Job, tmp_path: Path) -> None:
    job = as_ruby(job)
    job = job._replace(app=msgspec.structs.replace(job.app, build=[["rake"]]))
    with pytest.raises(BuildError, match=r"^app app has build commands"):
        build(*job, tmp_path, has_gems())


def test_gems_that_cannot_be_listed_are_a_failed_build(job: Job, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"^could not read which gems are installed"):
        build(*as_ruby(job), tmp_path, FakeHost(lambda _: 1))


def test_what_a_contender_is_served_with_is_told_and_found_on_its_path(job: Job, tmp_path: Path) -> None:
    job = as_ruby(job)._replace(found=msgspec.structs.replace(RUBY, beside=[PUMA, NGINX]))
    built = build(*job, tmp_path, has_gems("puma:6.4.0"))
    assert built.versions == {"ru": RUBY.version, "puma": PUMA.version, "nginx": NGINX.version}
    assert built.environment["PATH"].split(":")[:3] == ["/opt/ruby/bin", "/opt/puma/bin", "/usr/sbin"]


def test_another_program_beside_it_is_another_build_of_the_same_folders(
    job: Job, host: FakeHost, tmp_path: Path
) -> None:
    def behind(version: str) -> Job:
        return job._replace(
            found=msgspec.structs.replace(FOUND, beside=[msgspec.structs.replace(NGINX, version=version)])
        )

    old, new = (build(*behind(version), tmp_path, host) for version in ("nginx/1.22.1", "nginx/1.26.0"))
    assert old.key != new.key
    assert old.directory == new.directory
    assert build(*job, tmp_path, host).key not in (old.key, new.key)
