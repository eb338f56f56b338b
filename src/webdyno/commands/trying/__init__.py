"""What can be typed for ``webdyno try``, and how it is told; ``session/tryout`` carries it out."""
