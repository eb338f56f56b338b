"""Which role gets which core."""

from __future__ import annotations

from pathlib import Path

import pytest

from webdyno.rig.cores import Roles, assign, assign_apart, at_most, parse_list, physical_cores


def single(count: int) -> list[tuple[int, ...]]:
    return [(core,) for core in range(count)]


def paired(count: int) -> list[tuple[int, ...]]:
    """As Linux numbers hyper-threads: core n and n + count."""
    return [(core, core + count) for core in range(count)]


TABLE = [
    # physical cores: contender, driver, control, services
    (1, [0], [0], [0], [0]),
    (2, [0], [1], [1], [1]),
    (3, [0], [1], [2], [2]),
    (4, [0, 1], [2], [3], [3]),
    (5, [0, 1], [2, 3], [4], [4]),
    (6, [0, 1, 2], [3, 4], [5], [5]),
    (7, [0, 1, 2], [3, 4, 5], [6], [6]),
    (8, [0, 1, 2], [3, 4, 5], [6], [7]),
    (9, [0, 1, 2, 3], [4, 5, 6], [7], [8]),
    (10, [0, 1, 2, 3], [4, 5, 6, 7], [8], [9]),
    (11, [0, 1, 2, 3, 4], [5, 6, 7, 8], [9], [10]),
    (12, [0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10], [11]),
    (13, [0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10], [11], [12]),
    (14, [0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11], [12], [13]),
    (15, [0, 1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12], [13], [14]),
    (16, [0, 1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12], [13], [14, 15]),
]


@pytest.mark.parametrize(("count", "contender", "driver", "control", "service"), TABLE)
def test_cores_are_dealt_as_the_table_says(
    count: int, contender: list[int], driver: list[int], control: list[int], service: list[int]
) -> None:
    assert assign(single(count)) == Roles(tuple(contender), tuple(driver), tuple(control), tuple(service))


@pytest.mark.parametrize("row", TABLE[1:])
def test_hyper_threads_of_a_core_stay_with_one_role(
    row: tuple[int, list[int], list[int], list[int], list[int]],
) -> None:
    count, *cores = row
    roles = assign(paired(count))
    for got, expected in zip(roles, cores, strict=True):
        assert got == tuple(thread for core in expected for thread in (core, core + count))


def test_the_threads_of_a_lone_core_are_split_rather_than_shared() -> None:
    assert assign([(0, 1)]) == Roles((0,), (1,), (1,), (1,))


@pytest.mark.parametrize("smt", [False, True])
@pytest.mark.parametrize("count", range(2, 17))
def test_driver_and_contender_never_share_a_core(count: int, smt: bool) -> None:
    roles = assign(paired(count) if smt else single(count))
    assert not set(roles.contender) & set(roles.driver)
    assert len(roles.contender) >= len(roles.driver) >= 1
    assert roles.control
    assert roles.service


def topology(folder: Path, lists: dict[int, str]) -> Path:
    for core, text in lists.items():
        file = folder / f"cpu{core}/topology/thread_siblings_list"
        file.parent.mkdir(parents=True)
        file.write_text(text + "\n")
    return folder


def test_siblings_are_read_from_the_topology(tmp_path: Path) -> None:
    sys_cpu = topology(tmp_path, {0: "0,2", 1: "1,3", 2: "0,2", 3: "1,3"})
    assert physical_cores([0, 1, 2, 3], sys_cpu) == [(0, 2), (1, 3)]


def test_only_cores_we_may_use_are_dealt(tmp_path: Path) -> None:
    sys_cpu = topology(tmp_path, {0: "0-1", 1: "0-1", 2: "2-3", 3: "2-3"})
    assert physical_cores([1, 2, 3], sys_cpu) == [(1,), (2, 3)]


def test_without_a_topology_every_core_stands_for_itself(tmp_path: Path) -> None:
    assert physical_cores([0, 5], tmp_path) == [(0,), (5,)]


def test_lists_of_cores_are_read_as_the_kernel_writes_them() -> None:
    assert parse_list("0-2,5\n") == [0, 1, 2, 5]
    assert parse_list("\n") == []


def test_a_study_may_give_contenders_fewer_cores_than_there_are_and_never_more() -> None:
    placed = assign(single(12))
    assert at_most(placed, 2) == placed._replace(contender=(0, 1))
    assert at_most(placed, 99) == at_most(placed, None) == placed


def test_who_asks_for_two_cores_has_them_where_there_are_three() -> None:
    """The engine is then with webdyno itself, as on a machine of two."""
    assert assign(single(3), wanted=2) == Roles((0, 1), (2,), (2,), (2,))
    assert assign(single(3)) == assign(single(3), wanted=1) == Roles((0,), (1,), (2,), (2,))
    assert assign(single(2), wanted=2) == assign(single(2))
    assert assign(paired(3), wanted=2) == assign(paired(3))


@pytest.mark.parametrize(
    ("count", "measured", "control", "service"),
    [(1, 1, (0,), (0,)), (2, 1, (1,), (1,)), (4, 3, (3,), (3,)), (8, 6, (6,), (7,)), (16, 13, (13,), (14, 15))],
)
def test_a_machine_with_one_side_gives_it_all_but_what_the_rest_needs(
    count: int, measured: int, control: tuple[int, ...], service: tuple[int, ...]
) -> None:
    physical = [(core,) for core in range(count)]
    contender, driver = assign_apart(physical, "contender"), assign_apart(physical, "driver")
    assert contender == (tuple(range(measured)), (), control, service)
    assert driver == ((), contender.contender, control, service)
