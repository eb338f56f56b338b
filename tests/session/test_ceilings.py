"""Calibration is kept with the machine it was made on, and used on no other."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from webdyno.load.driver import Order, Tls, Way
from webdyno.model.estimate import Estimate
from webdyno.model.load import Load
from webdyno.model.rig import Ceiling
from webdyno.model.workload import Request
from webdyno.rig.fingerprint import read_fingerprint
from webdyno.session.ceilings import keep, known_ceiling, known_ceilings, with_ceilings

HERE = read_fingerprint()
RATE = Estimate(value=50_000.0, low=49_000.0, high=51_000.0, rounds=5, unit="per_s")
CEILING = Ceiling(connections=64, threads=1, rate=RATE, engine_busy=0.9)


def order(way: Way = Way(), threads: int = 1, **changes: object) -> Order:  # noqa: B008 - frozen
    load = Load(connections=64, duration_s=1, **changes)  # type: ignore[arg-type]
    return Order(
        host="h", port=1, requests=[Request(name="a", path="/")], load=load, cores=(), threads=threads, way=way
    )


def test_what_was_kept_is_found_again_on_the_same_machine(tmp_path: Path) -> None:
    assert known_ceilings(tmp_path, HERE) == []
    assert keep(tmp_path / "deep", HERE, [CEILING]).is_file()
    assert with_ceilings(HERE, tmp_path / "deep").ceilings == [CEILING]
    assert known_ceiling(tmp_path / "deep", order()) == RATE.value


@pytest.mark.parametrize("change", [{"cores_usable": 999}, {"kernel": "other"}, {"webdyno": "99"}])
def test_another_machine_or_version_has_no_ceiling_yet(tmp_path: Path, change: dict[str, object]) -> None:
    keep(tmp_path, msgspec.structs.replace(HERE, **change), [CEILING])
    assert known_ceilings(tmp_path, HERE) == []
    assert known_ceiling(tmp_path, order()) is None


def test_a_load_that_calibration_did_not_try_has_none(tmp_path: Path) -> None:
    keep(tmp_path, HERE, [CEILING])
    assert known_ceiling(tmp_path, order(way=Way(tls=Tls()))) is None
    assert known_ceiling(tmp_path, order(pipeline=8)) is None
    assert known_ceiling(tmp_path, order(threads=2)) is None


def test_a_damaged_file_is_as_good_as_none(tmp_path: Path) -> None:
    keep(tmp_path, HERE, [CEILING]).write_text("{")
    assert known_ceilings(tmp_path, HERE) == []
