"""Are verdicts to be trusted? Experiments with webdyno itself, whose correct answer is known beforehand."""
