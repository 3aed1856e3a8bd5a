"""A result value takes its fields from others by their names, as plain values."""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum

import pytest

from agent.deeds.result import ResultValue
from agent.texts import Sentence


class Colour(Enum):
    RED = "red"


class Plain(ResultValue, frozen=True):
    """A value."""

    id: str
    at: str
    tags: list[str]
    colour: str
    reason: str | None
    note: str
    more: int = 0


class Longer(Plain, frozen=True, kw_only=True):
    next: str | None


@dataclass
class Thing:
    id: str = "one"
    at: datetime = datetime(2026, 11, 29, tzinfo=UTC)
    tags: tuple[str, ...] = ("a", "b")
    colour: Colour = Colour.RED
    reason: str = ""
    note: str = ""


def test_fields_are_taken_by_name_and_made_plain() -> None:
    made = Plain.of(Thing(), id=Sentence("the {name}", name="second"))
    assert made.document() == {
        "id": "the second",
        "at": "2026-11-29T00:00:00+00:00",
        "tags": ["a", "b"],
        "colour": "red",
        "reason": None,
        "note": "",
        "more": 0,
    }
    assert type(made.id) is str


def test_the_first_value_that_has_a_field_gives_it() -> None:
    longer = Longer.of(Plain.of(Thing()), Thing(id="other"), next="two")
    assert (longer.id, longer.next, Longer.__doc__) == ("one", "two", "A value.")


@pytest.mark.parametrize("wrong", [{"tags": 3}, {"note": None}])
def test_a_field_of_another_type_is_no_value(wrong: dict[str, object]) -> None:
    with pytest.raises(TypeError, match="Plain"):
        Plain.of(Thing(), **wrong)


def test_a_field_that_nothing_has_is_named() -> None:
    with pytest.raises(TypeError, match="next"):
        Longer.of(Thing())
