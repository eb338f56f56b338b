"""Rig: cores, cgroups, processes, ports, fingerprint. The only place of webdyno that starts a process.

Read in this order: host.py (what a Host is), here.py (this machine as one), group.py (what a start gives back),
strap.py (the with-block every measurement stands in). Nothing in here knows what a contender is.
"""

from webdyno.rig.group import Group
from webdyno.rig.here import Here
from webdyno.rig.host import PIPE, STDOUT, Command, Host
from webdyno.rig.strap import Strapped, strap

__all__ = ["PIPE", "STDOUT", "Command", "Group", "Here", "Host", "Strapped", "strap"]
