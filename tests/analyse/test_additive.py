"""Least squares by blocks, against the same by a matrix of all cells and its pseudo-inverse."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from webdyno.analyse.additive import ALONE, Design, Meeting, Meetings, design_of

Matrix = NDArray[np.floating]
Key = tuple[str, int]


def drawn(seed: int) -> tuple[list[Key], list[str], Meetings]:
    """Cells of a few contenders, some missing: in rounds, in blocks, or in blocks and alone."""
    rng = np.random.default_rng(seed)
    names = [f"n{at}" for at in range(rng.integers(1, 8))]
    keys = [(name, round_) for name in names for round_ in range(rng.integers(1, 6)) if rng.random() < 0.8]
    halves = 3 if len(names) > 4 else 1
    met = {key: Meeting(key[1] * 10 + int(rng.integers(0, halves)), bool(rng.random() < 0.8)) for key in keys}
    return keys, list(dict.fromkeys(name for name, _ in keys)), met if seed % 2 else {}


def columns(design: Design) -> Matrix:
    """Contenders, then the shared blocks of each group, coded so that they add up to zero."""
    made = [(design.owner == at).astype(float) for at in range(design.number)]
    for group in np.unique(design.groups):
        *before, last = (design.block == design.shared[at] for at in np.flatnonzero(design.groups == group))
        made += [one.astype(float) - last for one in before]
    return np.column_stack(made)


@pytest.mark.parametrize("seed", range(60))
def test_levels_effects_and_slack_are_those_of_least_squares_over_all_cells(seed: int) -> None:
    keys, names, met = drawn(seed)
    if not keys:
        return
    design = design_of(keys, names, met)
    matrix, root = columns(design), np.sqrt(np.where(design.kind == 1, ALONE, 1.0))
    solved = np.linalg.pinv(matrix * root[:, None]) * root
    y = np.random.default_rng(seed).normal(size=len(keys))
    effects = design.effects(y)
    assert np.allclose(design.weights, solved[: design.number])
    assert np.allclose(design.residuals(y), y - matrix @ (solved @ y))
    assert np.allclose(design.slack(), 1 - np.einsum("ij,ji->i", matrix, solved))
    assert np.allclose(design.of_effects(np.eye(len(effects))) @ y, effects)
    for group in np.unique(design.groups):
        assert abs(effects[design.groups == group].sum()) < 1e-9


def test_what_is_kept_of_a_study_grows_as_its_cells_do() -> None:
    """With a row for each cell in the least squares of the others it would be four times as much."""
    sizes = []
    for rounds in (40, 80):
        keys = [(f"n{at}", round_) for round_ in range(rounds) for at in range(6)]
        design = design_of(keys, [f"n{at}" for at in range(6)], {key: Meeting(key[1], in_turns=True) for key in keys})
        kept = [design.weights, design.means.owners, design.means.groups, design.means.share, design.block]
        sizes.append(sum(each.nbytes for each in kept))
    assert sizes[1] <= 2.1 * sizes[0]
