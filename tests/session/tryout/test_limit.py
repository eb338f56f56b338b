"""Is it the app that is slow: from figures that are known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from webdyno.model.limit import Limit, LimitKind
from webdyno.model.verdict import Estimate, Standing
from webdyno.session.tryout.limit import limit_of, middle
from webdyno.session.tryout.profile import functions, gil_share


def window(
    cpu_ns: float | None, used: float = 0.95, rate: float = 100.0, name: str = "a", cores: tuple[int, ...] = (0,)
) -> Any:
    trial = SimpleNamespace(contender=name, load=SimpleNamespace(connections=32))
    run = SimpleNamespace(rig=SimpleNamespace(contender_cores=cores), trial=trial)
    return SimpleNamespace(cpu_per_request_ns=cpu_ns, rate_per_s=rate, run=run, contender_cores=used)


def standing(name: str, rate: float, cpu: float, *limits: LimitKind) -> Standing:
    def of(value: float) -> Estimate:
        return Estimate(value=value, low=value, high=value, rounds=3, unit="per_s")

    return Standing(
        contender=name,
        place=1,
        letters="A",
        rate=of(rate),
        p50=None,
        p99=None,
        cpu_per_request=of(cpu),
        memory_peak=None,
        ratio_to_best=None,
        requests_per_connection=None,
        errors={},
        error_ratio=0.0,
        rounds_ok=3,
        rounds_failed=0,
        outcomes={"ok": 3},
        limits=[Limit(kind=kind, says=f"is {kind}", numbers={}) for kind in limits],
    )


ALIKE = [standing("a", 100, 1000), standing("b", 95, 1050), standing("c", 97, 1100)]


def test_an_app_that_takes_nearly_all_the_cpu_is_the_limit() -> None:
    limit = limit_of("bjoern", window(2_400_000), window(80_000), ALIKE, str)
    assert limit.is_app
    assert limit.sentence == (
        "with bjoern the app itself is the limit: a request takes 2.40 ms of CPU, and 80.0 µs with an app that does "
        "nothing on the same server, so 97 % is the app's; a, b and c are within 10 % of each other, at nearly "
        "the same CPU for each request: another server will not make it faster"
    )


def test_a_server_that_takes_its_part_is_told_with_it() -> None:
    limit = limit_of("bjoern", window(200_000), window(100_000), ALIKE[:2], str)
    assert not limit.is_app
    assert limit.alike == []
    assert "50 % is the app's, the rest the server's" in limit.sentence


def test_servers_that_differ_in_rate_or_in_cpu_are_not_alike() -> None:
    assert limit_of("bjoern", window(1), None, [*ALIKE, standing("d", 80, 1000)], str).alike == []
    assert limit_of("bjoern", window(1), None, [*ALIKE, standing("d", 100, 1200)], str).alike == []
    assert limit_of("bjoern", window(1), None, ALIKE, lambda _: "one").alike == []


def test_what_waits_is_not_held_back_by_the_cpu_of_its_app() -> None:
    waits = [standing("a", 80, 1_200_000, "waiting")]
    limit = limit_of("gthread", window(1_200_000, used=0.1, rate=80.0), window(80_000), waits, str, alone_s=0.05)
    assert (limit.is_app, limit.waits) == (False, True)
    assert limit.sentence == (
        "with gthread it waits: 0.1 of 1 core used under full load; a request takes 50.0 ms without other load, "
        "so about 4 of the 32 clients were being served at a time: more threads or workers, or more "
        "connections to what it waits for, would let it do more; with gthread, a request takes 1.20 ms of CPU, and "
        "80.0 µs with an app that does nothing on the same server: 93 % is the app's, the rest the server's"
    )


def test_what_waits_with_every_client_at_work_needs_more_clients() -> None:
    waits = [standing("a", 620, 1000, "waiting")]
    limit = limit_of("gthread", window(1000, used=0.1, rate=620.0), None, waits, str, alone_s=0.05)
    assert limit.sentence.endswith("so all of the 32 clients were being served: use more of them (-c)")


def test_a_long_answer_of_little_cpu_waits_though_others_had_the_cores() -> None:
    plain = [standing("a", 80, 1000)]
    assert limit_of("x", window(1_000_000, used=0.1), None, plain, str, alone_s=0.05).waits
    assert not limit_of("x", window(20_000_000, used=0.1), None, plain, str, alone_s=0.05).waits
    assert not limit_of("x", window(20_000, used=0.1), None, plain, str, alone_s=0.001).waits
    assert not limit_of("x", window(1_000_000, used=0.8), None, plain, str, alone_s=0.05).waits


def test_servers_that_all_wait_are_alike_and_threads_still_make_them_faster() -> None:
    waits = [standing(name, 80, 1000, "waiting") for name in "abc"]
    limit = limit_of("a", window(1000, used=0.1), None, waits, str, alone_s=0.05)
    assert limit.alike == ["a", "b", "c"]
    assert "will not make it faster" not in limit.sentence


def test_one_full_core_of_several_is_busy_and_idle_cores_for_an_unknown_reason_are_no_limit_of_the_app() -> None:
    one = [standing("a", 100, 1000, "one-core")]
    limit = limit_of("bjoern", window(2_400_000, used=1.0, cores=(0, 1)), window(80_000), one, str)
    assert (limit.is_app, limit.waits) == (True, False)
    assert "bjoern is one-core" in limit.sentence
    limit = limit_of("bjoern", window(2_400_000, used=0.3), window(80_000), [standing("a", 100, 1000)], str)
    assert (limit.is_app, limit.waits) == (False, False)
    assert "the app itself is the limit" not in limit.sentence


def test_the_unknown_stays_unsaid() -> None:
    assert limit_of("bjoern", window(None), window(None), [], str).sentence == ""


def test_the_middle_run_is_taken() -> None:
    rates = [window(1, rate=rate) for rate in (3.0, 1.0, 2.0)]
    found = middle(rates)
    assert found is not None
    assert found.rate_per_s == 2.0
    assert middle([]) is None


def test_functions_are_counted_by_themselves_and_in_all() -> None:
    raw = (
        'process 7:"x";main (/v/lib/site-packages/gunicorn/app/run.py:3);index (/srv/shop/views.py:10) 60\n'
        'process 7:"x";main (/v/lib/site-packages/gunicorn/app/run.py:3);index (/srv/shop/views.py:12) 20\n'
        'process 7:"x";main (/v/lib/site-packages/gunicorn/app/run.py:3) 20\n'
        "nonsense\n"
    )
    found = functions(raw)
    assert [(f.name, f.own, f.total) for f in found] == [
        ("index (shop/views.py)", 0.8, 0.8),
        ("main (app/run.py)", 0.2, 1.0),
    ]
    assert functions("") == []
    assert gil_share(raw, 400) == 0.25
    two = raw + raw.replace("process 7", "process 8")
    assert gil_share(two, 400) == 0.25
    assert gil_share("main (a.py:1) 3", 400) is None
