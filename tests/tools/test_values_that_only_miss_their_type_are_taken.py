"""A value that only misses its type is taken; anything that could be meant in two ways is left to the check."""

import pytest

from agent.llm.messages import Json
from agent.tools.arguments import problems, schema, with_types

RULES = schema(
    count={"type": "integer"},
    share={"type": "number"},
    deep={"type": "boolean"},
    names={"type": "array", "items": {"type": "string"}},
    header={"type": "object"},
    path={"type": "string"},
    either={"type": ["string", "integer"]},
    perhaps={"type": ["integer", "null"]},
)


@pytest.mark.parametrize(
    ("name", "value", "meant"),
    [
        ("count", "3", 3),
        ("count", " 12 ", 12),
        ("count", 3.0, 3),
        ("share", "0.5", 0.5),
        ("share", "2", 2),
        ("deep", "true", True),
        ("deep", "False", False),
        ("names", '["a", "b"]', ["a", "b"]),
        ("names", "a", ["a"]),
        ("header", '{"a": 1}', {"a": 1}),
        ("perhaps", "null", None),
        ("perhaps", "4", 4),
    ],
)
def test_a_value_of_another_type_is_taken(name: str, value: Json, meant: Json) -> None:
    taken = with_types({name: value}, RULES)
    assert taken == {name: meant}
    assert type(taken[name]) is type(meant)
    assert problems(taken, RULES) == ()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("count", "three"),
        ("count", "3.5"),
        ("count", 3.5),
        ("count", "true"),
        ("deep", "1"),
        ("deep", 1),
        ("header", "[1]"),
        ("path", 1),
        ("names", ""),
        ("unknown", "3"),
    ],
)
def test_what_does_not_fit_is_left_to_the_check(name: str, value: Json) -> None:
    taken = with_types({name: value}, RULES)
    assert taken == {name: value}
    assert problems(taken, RULES)


@pytest.mark.parametrize(("name", "value"), [("path", "3"), ("path", "true"), ("either", "3"), ("count", 3)])
def test_what_fits_is_unchanged(name: str, value: Json) -> None:
    taken = with_types({name: value}, RULES)
    assert taken == {name: value}
    assert type(taken[name]) is type(value)
