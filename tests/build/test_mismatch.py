"""A file that is not the one a lock names: what tools really said of one, and what webdyno makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.build.conftest import installs
from tests.build.fake_host import FakeHost
from tests.fakes import contender
from webdyno.build import Job, build
from webdyno.build.mismatch import mismatch
from webdyno.model.errors import BuildError
from webdyno.rig.host import Command

UV = """\
Resolved 1 package in 30ms
error: Failed to download `waitress==3.0.2`
  cause: Hash mismatch for `waitress==3.0.2`

         Expected:
           sha256:0000000000000000000000000000000000000000000000000000000000000000
"""
PIP = """\
ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have updated the package versions, \
please update the hashes. Otherwise, examine the package contents carefully; someone may have tampered with them.
    tornado==3.1 from https://files.pythonhosted.org/packages/tornado-3.1.tar.gz#sha256=898b (from -r r.txt (line 1)):
        Expected sha256 0000000000000000000000000000000000000000000000000000000000000000
             Got        898b577e37b8681bf3d31483b7a30a2db062e99fb1b2b2cb65d203759d3a88d0
"""
NPM = """\
npm error code EINTEGRITY
npm error Integrity checksum failed when using sha512: wanted sha512-AAAz+bTLZG== but got sha512-6FlzubTLZG==.
"""
GO = """\
go: downloading github.com/go-chi/chi/v5 v5.5.0
verifying github.com/go-chi/chi/v5@v5.5.0: checksum mismatch
	downloaded: h1:xdKQ1dJmVJsmgahrXSKhUx8NyVPzpwdlyrrQFpMPJgg=
	go.sum:     h1:AAAA1dJmVJsmgahrXSKhUx8NyVPzpwdlyrrQFpMPJgg=
"""
CARGO = "error: checksum for `itoa v1.0.15` changed between lock files\n"


@pytest.mark.parametrize(
    ("said", "begins"),
    [
        (UV, "the file of waitress==3.0.2 does not match its hash in locks/fast.txt; "),
        (PIP, "the file of tornado==3.1 does not match its hash in locks/fast.txt; "),
        (NPM, "the file of @scope/ms does not match its hash in package-lock.json; "),
        (GO, "the file of github.com/go-chi/chi/v5@v5.5.0 does not match its hash in go.sum; "),
        (CARGO, "the file of itoa v1.0.15 does not match its hash in Cargo.lock; "),
    ],
)
def test_the_package_and_the_file_that_names_its_hash_are_said(said: str, begins: str, tmp_path: Path) -> None:
    (tmp_path / "package-lock.json").write_text(
        '{"packages": {"node_modules/other": {"version": "1", "integrity": "sha512-x=="},\n'
        '"node_modules/@scope/ms": {\n  "version": "2.1.3",\n  "integrity": "sha512-AAAz+bTLZG=="}}}'
    )
    sentence = mismatch(said, tmp_path, Path("locks/fast.txt"))
    assert sentence is not None
    assert sentence.startswith(begins)
    assert sentence.endswith("lock again only if you know why the file changed")


def test_other_words_are_no_mismatch(tmp_path: Path) -> None:
    assert mismatch("error: no space left on device", tmp_path, None) is None


def test_a_build_fails_with_that_sentence(job: Job, tmp_path: Path) -> None:
    def refuses(command: Command) -> str | int:
        if "install" not in command.argv:
            return installs(command)
        assert isinstance(command.stdout, Path)
        command.stdout.write_text(UV)
        return 1

    lock = tmp_path / "fast.txt"
    lock.write_text("fast==1.0 \\\n    --hash=sha256:aa\n")
    needy = contender("fast", requires=["fast==1.0"], needs="libfast: apt-get install libfast-dev")
    with pytest.raises(BuildError) as caught:
        build(*job._replace(lock=lock, contender=needy), tmp_path, FakeHost(refuses))
    assert str(caught.value) == (
        f"could not install fast==1.0: the file of waitress==3.0.2 does not match its hash in {lock}; empty "
        "the cache of the tool and of any mirror that it uses, and lock again only if you know why the file changed"
    )
