"""Letters and the top group."""

import random
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from webdyno.analyse.rank import letter, letters, top_group

NAMES = [f"c{n}" for n in range(9)]
PAIRS = [frozenset(pair) for pair in combinations(NAMES, 2)]


@given(st.sets(st.sampled_from(PAIRS)))
def test_two_share_a_letter_exactly_when_they_are_not_told_apart(apart: set[frozenset[str]]) -> None:
    given_letters = letters(NAMES, apart)
    for pair in PAIRS:
        one, other = pair
        assert bool(set(given_letters[one]) & set(given_letters[other])) == (pair not in apart)


def test_letters_follow_the_order_of_places() -> None:
    apart = {frozenset("ac"), frozenset("ad"), frozenset("bd")}
    assert letters(["a", "b", "c", "d"], apart) == {"a": "A", "b": "AB", "c": "BC", "d": "C"}


def test_all_alike_and_all_different() -> None:
    assert letters(["a", "b"], set()) == {"a": "A", "b": "A"}
    assert letters(["a", "b"], {frozenset("ab")}) == {"a": "A", "b": "B"}
    assert letters([], set()) == {}


def test_no_two_letters_are_alike() -> None:
    assert len({letter(at) for at in range(500)}) == 500


def test_the_top_group_is_the_first_and_whoever_cannot_be_told_from_it() -> None:
    assert top_group(["a", "b", "c"], {frozenset("ac")}) == ["a", "b"]
    assert top_group(["a", "b", "c"], {frozenset("ab")}) == ["a", "c"]
    assert top_group([], set()) == []


def test_a_crowd_without_an_order_has_few_letters() -> None:
    # Random pairs of 119: the groups that could be made of them are too many to be looked at one by one.
    names = [f"c{n:03}" for n in range(119)]
    chance = random.Random(1)
    apart = {frozenset(pair) for pair in combinations(names, 2) if chance.random() < 0.5}
    found = letters(names, apart)
    for one, other in combinations(names, 2):
        assert bool(set(found[one]) & set(found[other])) == (frozenset((one, other)) not in apart)
    assert len(set("".join(found.values()))) <= len(names) * len(names) // 4  # of any graph (Erdos, Goodman, Posa 1966)
