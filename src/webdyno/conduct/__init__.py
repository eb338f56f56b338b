"""Conduct: the only place that joins build, service, serve, load and measure. Trials in, as many Runs out, always.

``trial`` conducts one alone; ``block`` several whose contenders are alive at the same time and take turns, each from
its ``seat``. ``warming`` is how both get warm; ``bench`` is what all of them are given.
"""

from webdyno.conduct.bench import Bench
from webdyno.conduct.block import conduct_block
from webdyno.conduct.trial import conduct

__all__ = ["Bench", "conduct", "conduct_block"]
