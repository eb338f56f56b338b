"""Conduct: the only place that joins build, service, serve, load and measure. Trials in, as many Runs out, always.

``trial`` conducts one alone; ``block`` several whose contenders are alive at the same time and take turns, each from
its ``seat``.
"""

from webdyno.conduct.block import conduct_block
from webdyno.conduct.trial import Bench, conduct

__all__ = ["Bench", "conduct", "conduct_block"]
