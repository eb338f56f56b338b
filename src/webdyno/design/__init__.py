"""Design: from what is known to what is measured next.

Pure: no process, no socket, no clock, and no randomness without a seed.
"""
