"""Lengths of time, sizes, rates and shares are read alike by every flag, with their unit and without."""

from __future__ import annotations

import pytest

from webdyno.commands.compare import Judging
from webdyno.commands.loading.pacing import Pacing
from webdyno.commands.measuring import Measuring
from webdyno.commands.racing import Racing
from webdyno.commands.searching import Searching
from webdyno.commands.slo import objectives
from webdyno.commands.studying import Narrowing
from webdyno.commands.units import per_s, seconds, share, size_mb
from webdyno.model.errors import UsageError


@pytest.mark.parametrize(
    ("text", "length_s"),
    [("2", 2), ("2s", 2), ("2 s", 2), (".5", 0.5), ("500ms", 0.5), ("250us", 25e-5), ("1.5m", 90), ("1 min", 60)],
)
def test_a_length_of_time(text: str, length_s: float) -> None:
    assert seconds(text, "--duration") == pytest.approx(length_s)


@pytest.mark.parametrize(
    ("text", "megabytes"),
    [("512", 512), ("512M", 512), ("512 mb", 512), ("512MiB", 512), ("1.5G", 1536), ("2048K", 2), ("none", None)],
)
def test_a_size(text: str, megabytes: int | None) -> None:
    assert size_mb(text, "--memory") == megabytes


@pytest.mark.parametrize("text", ["5", "5%", "5 %", "5.0%", "05"])
def test_a_share_is_per_cent_with_the_sign_and_without(text: str) -> None:
    assert share(text, "--margin", 0.001, 0.5) == 0.05
    assert Judging(margin=text).share() == 0.05
    assert Searching(precision=text).sought("p99<9ms").precision == 0.05
    race = Racing(precision=text).race
    assert race is not None
    assert race.margin == 0.05
    assert objectives(f"errors<{text}")[0].bound == 0.05


@pytest.mark.parametrize("text", ["5000", "5k", "5e3", "5000/s", "5000 /s", "5k requests/s", "5000rps", "5000 req/s"])
def test_a_rate_is_per_second_with_the_unit_and_without(text: str) -> None:
    assert per_s(text, "--rate") == 5000
    assert Pacing(rate=text).pace(template=False)["rate_per_s"] == 5000
    assert Searching(first=text).first_per_s == Searching(most=text).most_per_s == 5000
    (stage,) = Pacing(stages=f"10s:0-{text}").pace(template=False)["rate_stages"]
    assert (stage.first, stage.last) == (0, 5000)
    assert objectives(f"rate>{text}")[0].bound == 5000


@pytest.mark.parametrize("text", ["", "-1", "5x", "s", "nan", "0x5", "1,5", "5%%", "1e", "k", "5 5"])
def test_what_is_none_is_refused_by_all(text: str) -> None:
    for read in (seconds, size_mb, per_s):
        with pytest.raises(UsageError, match=r"^--flag .*: give "):
            read(text, "--flag")
    with pytest.raises(UsageError, match=r"^--flag .*: give a share from 1% to 50%, such as 5%$"):
        share(text, "--flag", 0.01, 0.5)


def test_what_may_be_milliseconds_or_seconds_is_not_guessed() -> None:
    assert [it.bound for it in objectives("p99<50ms, p99<0.05s, p99<50000us, p50 < 1 min")] == [5e7, 5e7, 5e7, 6e10]
    with pytest.raises(UsageError, match="write latencies as p99<50ms"):
        objectives("p99<50")


def test_a_limit_of_memory_no_machine_has_is_refused() -> None:
    with pytest.raises(UsageError, match="no machine has that much memory"):
        size_mb("536870912", "--memory")  # of bytes


def test_the_flags_read_lengths_and_sizes() -> None:
    assert Measuring(duration="2", warmup="500 ms", budget="1").load().warmup_s == 0.5
    assert Narrowing(memory="512").arguments == ["--memory", "512"]
