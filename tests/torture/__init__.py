"""Faults provoked for real: each test breaks a disk, a process or a machine, and asks what is left. `make torture`."""
