"""The end of an id that a list shows names one thing, or the person is told why it does not."""

from dataclasses import dataclass

import pytest

from agent.errors import UserError
from agent.runs.short_ids import NotFound, find_by_id, short_id


@dataclass(frozen=True, slots=True)
class Thing:
    id: str


FIRST, SECOND, OWN = Thing("01HZAAAA000XYZ12"), Thing("01HZBBBB000XYZ12"), Thing("mine")
THINGS = (FIRST, SECOND, OWN)


def found(name: str, among: tuple[Thing, ...] = THINGS) -> Thing:
    otherwise = NotFound("there is nothing called {name}", "several things end in {name}", "look at the list")
    return find_by_id(name, among, otherwise)


def test_the_end_that_is_shown_finds_it_in_either_case() -> None:
    assert short_id(FIRST) == "0xyz12"
    assert found(short_id(FIRST), (FIRST, OWN)) == found("0XYZ12", (FIRST, OWN)) == FIRST
    assert found(SECOND.id) == SECOND
    assert found("mine") == OWN


@pytest.mark.parametrize("name", ["xyz12", "ine", "", "nothing"])
def test_too_short_an_end_finds_nothing(name: str) -> None:
    with pytest.raises(UserError, match=f"^there is nothing called {name}$") as caught:
        found(name)
    assert caught.value.hint == "look at the list"


def test_an_end_of_several_finds_none_of_them() -> None:
    with pytest.raises(UserError, match="^several things end in 0xyz12$"):
        found("0xyz12")
