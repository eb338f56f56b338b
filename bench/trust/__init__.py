"""Are verdicts to be trusted? Experiments with webdyno itself, whose right answer is known beforehand."""
