"""Doubts: every reason webdyno knows not to trust a figure, a comparison or a whole study.

Each rule is one function that looks at the evidence and returns its Doubt, or None. It is entered in one of the three
tables below, by what it looks at; the reports, the sentences and the ranking take it from there. ``voids`` takes a
contender out of the ranking (or forbids to rank a table at all); ``shades`` is told beside the figure.

A rule stays silent about what was not measured: no evidence is no reason to doubt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from webdyno.analyse.doubts.again import ran_again
from webdyno.analyse.doubts.alike import all_equal
from webdyno.analyse.doubts.answers import dead_cell, fell_silent, wrong_answers
from webdyno.analyse.doubts.cached import cached_service
from webdyno.analyse.doubts.connections import (
    closes_connections,
    http_1_0,
    silent_close,
    small_backlog,
    starved_connections,
)
from webdyno.analyse.doubts.driver import driver_limits, generator_bound
from webdyno.analyse.doubts.fairness import builds_differ, unequal_parallelism, versions_differ
from webdyno.analyse.doubts.figures import few_answers, p99_is_mean, part_of_phase
from webdyno.analyse.doubts.idle import idle_while_slow
from webdyno.analyse.doubts.interpreter import gil_on
from webdyno.analyse.doubts.leaks import leaks
from webdyno.analyse.doubts.machine import (
    loaded_before,
    memory_unlimited,
    noisy_host,
    shared_cores,
    stolen_time,
    unlike_machines,
)
from webdyno.analyse.doubts.original import fewer_cores
from webdyno.analyse.doubts.physics import delayed_ack, hanging_requests, impossible_rate
from webdyno.analyse.doubts.pools import pool_limited
from webdyno.analyse.doubts.processes import memory_capped, uneven_accept
from webdyno.analyse.doubts.rounds import drifted, few_rounds, incomplete, one_start
from webdyno.analyse.doubts.schedule import not_offered, schedule_lag
from webdyno.analyse.doubts.service_bound import service_bound
from webdyno.analyse.doubts.service_cores import service_shares_cores
from webdyno.analyse.doubts.stand_in import stand_in
from webdyno.analyse.doubts.starts import slow_starts
from webdyno.analyse.doubts.throttled import throttled
from webdyno.analyse.doubts.turns import restless, turns_differ
from webdyno.analyse.doubts.warming import cold_compiler, never_settled, still_climbing
from webdyno.analyse.table import Cell, Evidence, Table
from webdyno.model.doubt import Doubt

CONTENDER_RULES: tuple[Callable[[Cell], Doubt | None], ...] = (
    impossible_rate,
    builds_differ,
    ran_again,
    part_of_phase,
    cached_service,
    wrong_answers,
    dead_cell,
    fell_silent,
    starved_connections,
    hanging_requests,
    never_settled,
    generator_bound,
    stolen_time,
    cold_compiler,
    still_climbing,
    turns_differ,
    restless,
    not_offered,
    schedule_lag,
    service_bound,
    p99_is_mean,
    few_answers,
    closes_connections,
    silent_close,
    http_1_0,
    delayed_ack,
    idle_while_slow,
    pool_limited,
    uneven_accept,
    throttled,
    memory_capped,
    leaks,
    small_backlog,
    gil_on,
    versions_differ,
)
TABLE_RULES: tuple[Callable[[Table], Doubt | None], ...] = (
    unlike_machines,
    all_equal,
    noisy_host,
    few_rounds,
    drifted,
    slow_starts,
    unequal_parallelism,
    stand_in,
)
STUDY_RULES: tuple[Callable[[Evidence], Doubt | None], ...] = (
    shared_cores,
    service_shares_cores,
    memory_unlimited,
    loaded_before,
    driver_limits,
    incomplete,
    one_start,
    fewer_cores,
)


def about_contender(cell: Cell) -> list[Doubt]:
    """Doubts about one contender in one table, the gravest first."""
    return _graver_first([rule(cell) for rule in CONTENDER_RULES])


def about_table(table: Table) -> list[Doubt]:
    """Doubts about a table as a whole."""
    return _graver_first([rule(table) for rule in TABLE_RULES])


def about_study(evidence: Evidence) -> list[Doubt]:
    """Doubts about everything in a results folder."""
    return _graver_first([rule(evidence) for rule in STUDY_RULES])


def _graver_first(found: Sequence[Doubt | None]) -> list[Doubt]:
    return sorted((doubt for doubt in found if doubt is not None), key=lambda doubt: doubt.severity != "voids")
