"""The parts of the table of doubts that are about a whole table, and about everything in a results folder."""

from __future__ import annotations

from webdyno.analyse import compare, variances
from webdyno.analyse.doubts import (
    alike,
    carrier,
    driver,
    fairness,
    hosts,
    machine,
    original,
    rounds,
    service_bound,
    service_cores,
    stand_in,
    starts,
)
from webdyno.analyse.doubts.row import EACH, EITHER, SHADES, VOIDS, Row, Threshold

TABLE: tuple[Row, ...] = (
    Row(
        "unlike-machines",
        "table",
        VOIDS,
        machine.unlike_machines,
        advice=(machine.UNLIKE_MACHINES_ADVICE,),
        numbers=("placements",),
    ),
    Row(
        "all-equal",
        "table",
        EITHER,
        alike.all_equal,
        advice=(
            alike.ALL_EQUAL_ADVICE,
            alike.ALL_EQUAL_LOAD_BOUND_ADVICE,
        ),
        numbers=("apart", "contenders"),
        limits=(
            Threshold("FEWEST", alike.FEWEST, "contenders at least"),
            Threshold("ALIKE", alike.ALIKE, "between the fastest and the slowest"),
            Threshold("NEAR_BOUND", alike.NEAR_BOUND, "of connections / service floor, shades from this value on"),
            Threshold("AT_WORK", alike.AT_WORK, "of the CPU that it can use: at its own limit"),
            Threshold("SERVICE_BOUND", service_bound.BOUND, "of the CPU that the service could use: at its limit"),
        ),
    ),
    Row(
        "noisy-host",
        "table",
        SHADES,
        machine.noisy_host,
        advice=(machine.NOISY_HOST_ADVICE,),
        numbers=("runs", "steal", "foreign"),
        limits=(
            Threshold("STEAL", machine.STEAL, "of the machine, by the hypervisor"),
            Threshold("FOREIGN", machine.FOREIGN, "of the machine, by other programs"),
        ),
    ),
    Row(
        "few-rounds",
        "table",
        SHADES,
        rounds.few_rounds,
        advice=(rounds.FEW_ROUNDS_ADVICE,),
        numbers=("rounds", "contenders"),
        limits=(Threshold("ENOUGH", rounds.ENOUGH, "rounds, silent from this value on"),),
    ),
    Row(
        "drifted",
        "table",
        SHADES,
        rounds.drifted,
        advice=(rounds.DRIFTED_ADVICE,),
        numbers=("change", "p"),
        limits=(
            Threshold("SURE", rounds.SURE, "as the p value"),
            Threshold("DRIFT", rounds.DRIFT, "from the first round to the last"),
        ),
    ),
    Row(
        "slow-starts",
        "table",
        SHADES,
        starts.slow_starts,
        advice=(starts.SLOW_STARTS_ADVICE,),
        numbers=("slow", "rounds", "lost", "contenders"),
        limits=(
            Threshold("FENCE", starts.FENCE, "median absolute deviations"),
            Threshold("ENOUGH", variances.ENOUGH, "contenders at least"),
            Threshold("STARTS", compare.STARTS, "rounds at least"),
            Threshold("LEAST", starts.LEAST, "slow rounds at least"),
        ),
    ),
    Row(
        "hosts-differ",
        "table",
        SHADES,
        hosts.hosts_differ,
        advice=(hosts.HOSTS_DIFFER_ADVICE,),
        numbers=("hosts", "change", "p"),
        limits=(
            Threshold("SURE", hosts.SURE, "as the p value"),
            Threshold("APART", hosts.APART, "on one host, beside the others there"),
        ),
    ),
    Row(
        "unequal-parallelism",
        "table",
        SHADES,
        fairness.unequal_parallelism,
        advice=(fairness.UNEQUAL_PARALLELISM_ADVICE,),
        numbers=(EACH,),
        limits=(Threshold("UNEQUAL", fairness.UNEQUAL, "times as many workers"),),
    ),
    Row("stand-in", "table", SHADES, stand_in.stand_in, advice=(stand_in.STAND_IN_ADVICE,), numbers=("kinds",)),
)

STUDY: tuple[Row, ...] = (
    Row(
        "shared-cores", "study", SHADES, machine.shared_cores, advice=(machine.SHARED_CORES_ADVICE,), numbers=("cores",)
    ),
    Row(
        "service-shares-cores",
        "study",
        SHADES,
        service_cores.service_shares_cores,
        advice=(service_cores.SERVICE_SHARES_CORES_ADVICE,),
        numbers=("cores",),
    ),
    Row(
        "unlike-hosts",
        "study",
        SHADES,
        hosts.unlike_hosts,
        advice=(hosts.UNLIKE_HOSTS_ADVICE,),
        numbers=("kinds",),
    ),
    Row(
        "carrier-on-cores",
        "study",
        SHADES,
        carrier.carrier_on_cores,
        advice=(carrier.CARRIER_ADVICE,),
        numbers=("carrier_cores",),
        limits=(Threshold("TAKEN", carrier.TAKEN, "of a core, median of the runs"),),
    ),
    Row(
        "memory-limit-not-enforced",
        "study",
        SHADES,
        machine.memory_unlimited,
        advice=(machine.MEMORY_UNLIMITED_ADVICE,),
        numbers=("limit_bytes",),
    ),
    Row(
        "noisy-host",
        "study",
        SHADES,
        machine.loaded_before,
        advice=(machine.LOADED_BEFORE_ADVICE,),
        numbers=("load_before", "cores"),
        limits=(Threshold("LOADED", machine.LOADED, "of the cores, as a load average"),),
    ),
    Row("driver-limits", "study", SHADES, driver.driver_limits, advice=(driver.DRIVER_LIMITS_ADVICE,), numbers=(EACH,)),
    Row(
        "incomplete",
        "study",
        SHADES,
        rounds.incomplete,
        advice=(rounds.INCOMPLETE_ADVICE,),
        numbers=("missing", "planned"),
    ),
    Row("one-start", "study", SHADES, rounds.one_start, advice=(rounds.ONE_START_ADVICE,), numbers=("rounds",)),
    Row(
        "fewer-cores",
        "study",
        SHADES,
        original.fewer_cores,
        advice=(original.FEWER_CORES_ADVICE,),
        numbers=("cores_of_original", "cores"),
    ),
)
