"""Exports, read back with the readers their formats belong to."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests import test_store
from webdyno.export import COLUMNS, export, hlog, lines, log_name
from webdyno.histogram import encode
from webdyno.load.driver import DRIVERS
from webdyno.model.errors import MachineError, UsageError
from webdyno.model.run import Run
from webdyno.model.sample import ERROR_KINDS, Slice

S = 1_000_000_000


def hdr(*values: int) -> str:
    return encode(dict.fromkeys(values, 1))


WARMUP = Slice(
    phase="warmup", index=0, start_ns=7 * S, duration_ns=S // 2, offered=1, ok=1, errors={}, latency_hdr=hdr(9)
)
FIRST = Slice(
    phase="steady",
    index=1,
    start_ns=7 * S + S // 2,
    duration_ns=S,
    offered=4,
    ok=3,
    errors={"timeout": 1},
    bytes_in=100,
    latency_hdr=hdr(1_000_000, 2_000_000, 3_000_000),
    cpu_user_ns=5,
    cpu_system_ns=6,
    idle_ns=600_000_000,
    run_delay_ns=5_000,
)
SECOND = msgspec.structs.replace(FIRST, index=2, start_ns=8 * S + S // 2, latency_hdr=hdr(4_000_000))
POINTS = Slice(
    phase="steady", index=0, start_ns=None, duration_ns=2 * S, offered=8, ok=8, errors={}, latency_ns={"p50": 5.0}
)


def run(*slices: Slice, driver: str = "engine", **changes: Any) -> Run:
    return test_store.run(slices=list(slices), driver_can=DRIVERS[driver]().can, **changes)


def rows(*runs: Run) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(lines(list(enumerate(runs, 1)), "csv")))))


def test_jsonl_is_every_run_whole_with_its_number() -> None:
    one, two = run(FIRST), run(POINTS, driver="wrk")
    texts = list(lines([(1, one), (3, two)], "jsonl"))
    assert [text[:12] for text in texts] == ['{"number":1,', '{"number":3,']
    assert [msgspec.json.decode(text, type=Run) for text in texts] == [one, two]
    assert all(text.endswith("}\n") and text.count("\n") == 1 for text in texts)


def test_csv_has_one_row_per_slice_and_says_what_was_counted() -> None:
    warmup, first = rows(run(WARMUP, FIRST))
    assert (warmup["phase"], first["phase"]) == ("warmup", "steady")
    assert (first["contender"], first["workload"], first["round"], first["connections"]) == ("a", "hello", "1", "8")
    assert (first["offered"], first["ok"], first["ok_per_s"], first["errors_timeout"]) == ("4", "3", "3.0", "1")
    assert int(first["latency_p50_ns"]) == pytest.approx(2_000_000, rel=1e-3)
    assert int(first["latency_max_ns"]) == pytest.approx(3_000_000, rel=1e-3)
    assert first["driver_cpu_ns"] == "11"
    assert (first["driver_idle_ns"], first["driver_run_delay_ns"]) == ("600000000", "5000")


def test_csv_leaves_empty_what_is_not_known_and_writes_0_only_for_what_was_looked_for() -> None:
    [engine] = rows(run(FIRST))
    [wrk] = rows(run(POINTS, driver="wrk"))
    assert (engine["errors_truncated"], engine["errors_socket"]) == ("0", "")
    assert (wrk["errors_truncated"], wrk["errors_socket"]) == ("", "0")
    assert (wrk["start_ns"], wrk["bytes_in"], wrk["connections_opened"], wrk["driver_cpu_ns"]) == ("", "", "", "")
    assert (wrk["driver_idle_ns"], wrk["driver_run_delay_ns"]) == ("", "")
    assert (wrk["latency_p50_ns"], wrk["latency_p99_ns"]) == ("5.0", "")


def test_csv_without_runs_is_its_header() -> None:
    assert list(lines([], "csv")) == [",".join(name for name, _, _ in COLUMNS) + "\n"]


def test_every_column_is_documented_once_and_every_error_kind_has_one() -> None:
    names = [name for name, _, _ in COLUMNS]
    assert len(set(names)) == len(names)
    assert all(means for _, means, _ in COLUMNS)
    assert {"errors_" + kind.replace("-", "_") for kind in ERROR_KINDS} <= set(names)


def test_hlog_is_read_by_the_package_s_own_reader(tmp_path: Path) -> None:
    [path] = export([(7, run(WARMUP, FIRST, SECOND))], "hlog", tmp_path / "logs")
    assert path.name == "0007-a-hello-8c-r1.hlog"
    hdrh = pytest.importorskip("hdrh.log", reason="no wheel for this processor")
    reader = hdrh.HistogramLogReader(str(path), hdrh.HdrHistogram(1, 3_600 * S, 3))
    read = []
    while (interval := reader.get_next_interval_histogram()) is not None:
        read.append(interval)
    reader.input_file.close()
    started_ms = 1767323045_000
    assert reader.get_start_time_sec() == started_ms / 1000
    assert [interval.get_tag() for interval in read] == ["warmup", None, None]
    assert [interval.get_total_count() for interval in read] == [1, 3, 1]
    assert [interval.get_start_time_stamp() - started_ms for interval in read] == [0, 500, 1500]
    assert [interval.get_end_time_stamp() - started_ms for interval in read] == [500, 1500, 2500]
    assert read[2].get_max_value() == pytest.approx(4_000_000, rel=1e-3)


def test_hlog_lines_are_those_of_format_1_3() -> None:
    text = hlog(run(WARMUP, FIRST)).splitlines()
    assert text[1] == "#[Histogram log format version 1.3]"
    assert text[2] == "#[StartTime: 1767323045.000 (seconds since epoch), Fri Jan 02 03:04:05 2026 UTC]"
    assert text[5] == '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'
    assert text[6].startswith("Tag=warmup,0.000,0.500,0.000,HISTFAAAA")
    assert text[7].startswith("0.500,1.000,3.000,HISTFAAAA")


def test_hlog_of_slices_without_a_clock_counts_their_lengths() -> None:
    timeless = [msgspec.structs.replace(slice_, start_ns=None) for slice_ in (WARMUP, FIRST, SECOND)]
    assert [line.split("HIST")[0] for line in hlog(run(*timeless)).splitlines()[6:]] == [
        "Tag=warmup,0.000,0.500,0.000,",
        "0.500,1.000,3.000,",
        "1.500,1.000,4.002,",
    ]


def test_name_of_a_log_cannot_leave_its_folder() -> None:
    trial = msgspec.structs.replace(test_store.trial(1), contender="../../etc/passwd")
    assert log_name(1, run(trial=trial)) == "0001-.._.._etc_passwd-hello-8c-r1.hlog"


def test_only_runs_with_histograms_become_logs(tmp_path: Path) -> None:
    written = export([(1, run(POINTS, driver="ab")), (2, run(FIRST))], "hlog", tmp_path)
    assert [path.name[:4] for path in written] == ["0002"]


def test_files_are_written_where_asked(tmp_path: Path) -> None:
    for form in ("csv", "jsonl"):
        assert export([(1, run(FIRST))], form, tmp_path / "new" / f"x.{form}") == [tmp_path / "new" / f"x.{form}"]
        assert (tmp_path / "new" / f"x.{form}").read_text() == "".join(lines([(1, run(FIRST))], form))


def test_no_histogram_at_all_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="none of these Runs has a histogram: only --driver engine gives one"):
        export([(1, run(POINTS, driver="wrk"))], "hlog", tmp_path)


def test_unknown_format_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no format 'xls'; there are: jsonl, csv, hlog"):
        export([], "xls", tmp_path / "x")


def test_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MachineError, match=r"cannot be written .*: give another place"):
        export([], "csv", tmp_path / "file" / "x.csv")


def in_turns() -> Run:
    turns = [
        msgspec.structs.replace(
            FIRST, phase="turn", index=1 + at, turn=at, start_ns=(8 + at) * S, duration_ns=S // 20, drained_ns=7,
            reopened=2, contender_cpu_ns=40_000_000, latency_hdr=hdr(5)
        )
        for at in range(2)
    ]  # fmt: skip
    steady = msgspec.structs.replace(FIRST, index=3, start_ns=20 * S)
    return run(WARMUP, *turns, steady, block=3, beside=["b", "c"])


def test_turns_are_rows_with_their_pass_and_who_shared_the_block() -> None:
    told = rows(in_turns(), run(FIRST))
    assert [row["phase"] for row in told] == ["warmup", "turn", "turn", "steady", "steady"]
    assert [row["turn"] for row in told] == ["", "0", "1", "", ""]
    assert [(row["block"], row["beside"]) for row in told] == [("3", "b c")] * 4 + [("", "")]
    assert (told[1]["contender_cpu_ns"], told[1]["drained_ns"], told[1]["reopened"]) == ("40000000", "7", "2")


def test_a_latency_log_has_no_turns_for_they_are_bursts() -> None:
    text = hlog(in_turns())
    intervals = [line for line in text.splitlines() if line[:1] not in '#"']
    assert [line.split(",")[:2] for line in intervals] == [["Tag=warmup", "0.000"], ["13.000", "1.000"]]
