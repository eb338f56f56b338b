"""load: one file per load tool; `driver.py` holds what they have in common to the outside, and the table that names
them.
"""
