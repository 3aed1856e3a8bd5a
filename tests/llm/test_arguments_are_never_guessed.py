"""A model's arguments: read when they are certain, repaired when nothing can be lost, and otherwise given back."""

import json
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.llm.arguments import DraftCall, parse_arguments, tool_calls

texts = st.text(max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(texts, values, max_size=4)
jsonish = st.lists(
    st.sampled_from(
        ["{", "}", "[", "]", '"', ",", ":", "\\", "True", "None", "null", "1", "-", "a", "```", "\n", "猫"]
    ),
    max_size=30,
).map("".join)


@given(objects, st.booleans())
def test_whatever_is_json_is_read_as_it_is(value: dict[str, object], ascii: bool) -> None:
    assert parse_arguments(json.dumps(value, ensure_ascii=ascii)) == (value, "")


@given(st.text(alphabet=st.characters()) | jsonish, st.booleans())
def test_no_text_is_a_crash(text: str, ended: bool) -> None:
    arguments, problem = parse_arguments(text, ended=ended)
    assert isinstance(arguments, dict)
    assert not (arguments and problem)


@given(objects, st.data())
def test_a_call_that_was_cut_off_never_loses_a_part_silently(value: dict[str, object], data: st.DataObject) -> None:
    whole = json.dumps(value, ensure_ascii=False)
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    assert parse_arguments(cut, ended=False)[1]
    arguments, problem = parse_arguments(cut)
    if not problem and cut.strip():
        assert all(value[name] == arguments[name] for name in arguments), "a value was changed"


@given(objects, st.sampled_from(["```json\n{}\n```", "```\n{}\n```", "{}\n", "{}}}", "{}</tool_call>", "{}<|im_end|>"]))
def test_wrappings_are_taken_off(value: dict[str, object], around: str) -> None:
    assert parse_arguments(around.replace("{}", json.dumps(value), 1)) == (value, "")


@given(objects)
def test_an_object_inside_a_string_is_taken_out(value: dict[str, object]) -> None:
    assert parse_arguments(json.dumps(json.dumps(value))) == (value, "")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("", {}),
        ("  \n", {}),
        ('{"a": 1,}', {"a": 1}),
        ('{"a": [1, 2, ], "b": {"c": "x" ,\n}, }', None),
        ('{"a": [1, 2,], "b": "x",\n}', {"a": [1, 2], "b": "x"}),
        ('{"a": True, "b": None, "c": False}', {"a": True, "b": None, "c": False}),
        ('{"a": "True, None,}"}', {"a": "True, None,}"}),
        ('{"text": "two\nlines"}', {"text": "two\nlines"}),
        ('{"path": "a.md"', {"path": "a.md"}),
        ('{"list": ["a"]', {"list": ["a"]}),
        ('\ufeff{"a": "\\u732b"}', {"a": "猫"}),
    ],
)
def test_what_can_be_mended_without_loss_is(text: str, meant: dict[str, object] | None) -> None:
    arguments, problem = parse_arguments(text)
    assert (arguments, problem) == (meant, "") if meant is not None else problem


@pytest.mark.parametrize(
    "text",
    [
        '{"path": "a.md", "content": "half of',
        '{"path": "a.md", "content": "half\\',
        '{"path": "a.md",',
        '{"path": "a.md", "content"',
        '{"path": "a.md", "content":',
        '{"limit": 12',
        '{"deep": {"er": "x"',
        '{"a": 1}{"a": 2}',
        '{"a": 1} {"b": 2}',
        '{"path": "a"}, "content": "b"}',
        '{"path": "a"}, content: b',
        '{"path": "a", "path": "b"}',
        "{'path': 'a'}",
        '{"content": "He said "hi" to me"}',
        "[]",
        "null",
        "1",
        '"text"',
        "Sure! I will read it.",
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a": "\\ud83d"}',
        '{"a": ' + "9" * 5000 + "}",
        "[" * 100_000,
        '{"a":' * 100_000,
    ],
)
def test_what_might_be_something_else_is_given_back(text: str) -> None:
    arguments, problem = parse_arguments(text)
    assert arguments == {}
    assert "call the tool again" in problem
    assert len(problem) < 300


def test_names_stay_as_they_are_and_ids_become_unique() -> None:
    ids = count()
    drafts = [
        DraftCall("", "vault.read!", "{}"),
        DraftCall("call_1", "vault_read", "{}"),
        DraftCall("call_1", "vault_read", "{}"),
        DraftCall("bad id\n", "x", "{}"),
        DraftCall("call_9", " ", "{}"),
    ]
    calls = tool_calls(drafts, {"call_9"}, lambda: f"new{next(ids)}")
    assert [call.name for call in calls] == ["vault.read!", "vault_read", "vault_read", "x", ""]
    assert [call.id for call in calls] == ["call_new0", "call_1", "call_new1", "call_new2", "call_new3"]
    assert [bool(call.problem) for call in calls] == [False, False, False, False, True]
