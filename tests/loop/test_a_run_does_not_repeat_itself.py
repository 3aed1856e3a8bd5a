"""The breaker: the same failure is not repeated for ever, nor is the same success."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import LimitReached
from agent.llm.messages import ToolCall, ToolResult
from agent.loop.limits import Breaker, what_to_mind

CALL = ("vault_read", {"path": "a.md", "lines": ["1", "2"]})


def test_the_third_same_failure_is_the_last_and_the_model_is_told() -> None:
    breaker = Breaker(3)
    told = []
    for _ in range(3):
        breaker.check(*CALL)
        told.append(breaker.failed(*CALL, "there is no a.md"))
    assert told[:2] == ["", ""] and "will not be tried again" in told[2]
    with pytest.raises(LimitReached) as raised:
        breaker.check(*CALL)
    assert raised.value.limit == "spend.same_failure"


def test_other_arguments_other_errors_and_other_tools_are_other_failures() -> None:
    breaker = Breaker(2)
    breaker.failed("vault_read", {"path": "a"}, "no such note")
    breaker.failed("vault_read", {"path": "b"}, "no such note")
    breaker.failed("vault_list", {"path": "a"}, "no such note")
    breaker.failed("vault_read", {"path": "a"}, "too large")
    for tool, path in (("vault_read", "a"), ("vault_read", "b"), ("vault_list", "a")):
        breaker.check(tool, {"path": path})


def test_figures_and_spaces_do_not_make_an_error_another_one() -> None:
    breaker = Breaker(2)
    breaker.failed("web_fetch", {}, "no answer after 20.01 s\nfrom port 51234")
    assert breaker.failed("web_fetch", {}, "no answer after 19.98 s from port 51999")


def test_a_call_that_works_again_is_forgiven() -> None:
    breaker = Breaker(2)
    breaker.failed(*CALL, "locked")
    breaker.succeeded(*CALL, "a note")
    assert breaker.failed(*CALL, "locked") == ""


def test_the_same_result_is_told_from_the_third_on_and_not_asked_for_a_ninth_time() -> None:
    breaker = Breaker(3)
    told = []
    for _ in range(8):
        breaker.check(*CALL)
        breaker.succeeded(*CALL, "a note")
        told.append(what_to_mind(breaker, 0.0, False, "en"))
    assert told[:2] == [(), ()]
    assert [f"the same result {number} times" in text for number, (text,) in enumerate(told[2:], 3)] == [True] * 6
    assert ["ends the run" in text for (text,) in told[2:]] == [False] * 5 + [True]
    with pytest.raises(LimitReached, match='^vault_read "a.md" gave the same result 8 times') as raised:
        breaker.check(*CALL)
    assert raised.value.hint
    breaker.check("vault_read", {"path": "b.md"})


@pytest.mark.parametrize("between", [("succeeded", "a longer note"), ("failed", "locked")])
def test_another_result_in_between_and_the_count_begins_anew(between: tuple[str, str]) -> None:
    breaker = Breaker(100)
    for _ in range(20):
        breaker.succeeded(*CALL, "a note")
        breaker.succeeded(*CALL, "a note")
        getattr(breaker, between[0])(*CALL, between[1])
        breaker.check(*CALL)


def test_who_waits_for_something_may_ask_for_ever() -> None:
    breaker = Breaker(3)
    for second in range(100):
        breaker.check(*CALL)
        breaker.succeeded(*CALL, f"{second} % done")
        assert breaker.repeated == ()


def test_the_order_of_arguments_does_not_matter() -> None:
    breaker = Breaker(1)
    breaker.failed("t", {"a": 1, "b": {"x": 1, "y": 2}}, "no")
    with pytest.raises(LimitReached):
        breaker.check("t", {"b": {"y": 2, "x": 1}, "a": 1})


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("ab"), st.sampled_from("xy")), max_size=40))
def test_what_a_note_says_of_results_counts_as_what_was_heard(steps: list[tuple[bool, str, str]]) -> None:
    live, read, told = Breaker(100), Breaker(100), []
    for number, (works, tool, text) in enumerate(steps):
        call = ToolCall(str(number), tool, {"v": 1})
        (live.succeeded if works else live.failed)(tool, call.arguments, text)
        told.append((call, ToolResult(call.id, tool, text, failed=not works)))
    read.replay(told)
    assert read.repeats == live.repeats and read.failures == {}
