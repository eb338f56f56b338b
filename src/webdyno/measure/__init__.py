"""Measure: the resources of whole process groups while they work, as Readings.

sampler.py is what others use; proc.py and machine.py read one group and the machine.
"""

from webdyno.measure.sampler import Sampler

__all__ = ["Sampler"]
