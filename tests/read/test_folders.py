"""Several catalogue folders read as one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.read.conftest import FILES
from webdyno.model.errors import CatalogueError, UsageError
from webdyno.read import default_folder, read_catalogue, read_study

KINDS = "runtimes, services, workloads, apps, contenders, matrices, studies"


def test_what_a_folder_holds_is_named_after_its_files(folder: Path) -> None:
    known = read_catalogue([folder])
    assert list(known.contenders) == ["fast"]
    assert known.contenders["fast"].name == "fast"
    assert known.app_directories == {"small": folder / "apps" / "small"}
    assert list(known.studies) == ["short"]
    assert known.locks == {}


def test_a_lock_belongs_to_the_contender_it_is_named_after(folder: Path) -> None:
    (folder / "locks").mkdir()
    (folder / "locks" / "fast.txt").write_text("")
    assert read_catalogue([folder]).locks == {"fast": folder / "locks" / "fast.txt"}


def test_a_lock_lies_in_the_folder_that_defines_its_contender(folder: Path) -> None:
    assert read_catalogue([default_folder(), folder]).lock_places["fast"] == folder / "locks" / "fast.txt"


def test_a_second_folder_may_hold_one_contender_for_an_app_of_the_first(folder: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    (mine / "contenders").mkdir(parents=True)
    (mine / "contenders" / "faster.toml").write_text(FILES["contenders/fast.toml"])
    assert set(read_catalogue([folder, mine]).contenders) == {"fast", "faster"}


def test_the_first_folder_may_refer_to_what_only_the_second_defines(folder: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    shutil.move(folder / "apps", mine / "apps")
    assert set(read_catalogue([folder, mine]).apps) == {"small"}


def test_a_name_may_not_be_defined_twice(folder: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine" / "contenders"
    mine.mkdir(parents=True)
    (mine / "fast.toml").write_text(FILES["contenders/fast.toml"])
    with pytest.raises(CatalogueError) as caught:
        read_catalogue([folder, tmp_path / "mine"])
    first = folder / "contenders" / "fast.toml"
    assert str(caught.value) == (
        f'{mine / "fast.toml"}: contender "fast" is already defined in {first}; give it another name'
    )


def test_a_name_is_one_that_can_be_typed(folder: Path) -> None:
    (folder / "contenders" / "Fast Server.toml").write_text(FILES["contenders/fast.toml"])
    with pytest.raises(CatalogueError, match=r'"Fast Server" cannot be a name; use a-z, 0-9, dots and dashes$'):
        read_catalogue([folder])


def test_an_app_folder_without_its_file_is_named(folder: Path) -> None:
    (folder / "apps" / "half").mkdir()
    with pytest.raises(CatalogueError) as caught:
        read_catalogue([folder])
    assert str(caught.value) == f"{folder / 'apps' / 'half'}: holds no app.toml, so it is not an app"


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read_catalogue([tmp_path / "nowhere"])
    kinds = " or ".join(KINDS.split(", "))
    assert str(caught.value) == f"{tmp_path / 'nowhere'}: does not exist; a catalogue is a folder that holds {kinds}"


def test_a_file_instead_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="file: is not a folder; a catalogue is a folder that holds runtimes or "):
        read_catalogue([tmp_path / "file"])


def test_a_folder_that_holds_nothing_known(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    with pytest.raises(UsageError) as caught:
        read_catalogue([tmp_path])
    assert str(caught.value) == f"{tmp_path}: is not a catalogue; it holds none of {KINDS}"


def test_a_misspelt_kind_is_not_silently_ignored(folder: Path) -> None:
    (folder / "contender").mkdir()
    with pytest.raises(UsageError, match=r': unknown folder "contender"; did you mean "contenders"\?$'):
        read_catalogue([folder])


def test_a_study_may_lie_anywhere(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(FILES["studies/short.toml"])
    assert read_study(path, read_catalogue([folder])).name == "mine"


def test_a_study_is_checked_against_the_catalogue(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(FILES["studies/short.toml"].replace("fast", "fats"))
    with pytest.raises(CatalogueError, match=r'mine.toml:3: contenders\[0\]: there is no contender "fats"; did you'):
        read_study(path, read_catalogue([folder]))


def test_a_study_that_does_not_exist(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(CatalogueError) as caught:
        read_study(tmp_path / "none.toml", read_catalogue([folder]))
    assert str(caught.value) == f"{tmp_path / 'none.toml'}: cannot be read: No such file or directory"


def test_the_default_catalogue_is_read_without_complaint() -> None:
    assert "quickstart" in read_catalogue([default_folder()]).studies
