"""What can be typed for ``webdyno try``, and how it is reported; ``session/tryout`` carries it out."""
