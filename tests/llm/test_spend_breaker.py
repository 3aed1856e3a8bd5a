"""The breaker: the same failure is not repeated for ever."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import LimitReached
from agent.llm.breaker import Breaker

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
    breaker.succeeded(*CALL)
    assert breaker.failed(*CALL, "locked") == ""


def test_the_order_of_arguments_does_not_matter() -> None:
    breaker = Breaker(1)
    breaker.failed("t", {"a": 1, "b": {"x": 1, "y": 2}}, "no")
    with pytest.raises(LimitReached):
        breaker.check("t", {"b": {"y": 2, "x": 1}, "a": 1})


def test_the_same_error_of_the_model_ends_the_run() -> None:
    breaker = Breaker(3)
    breaker.model_failed("the server answered 500")
    breaker.model_failed("the server answered 500")
    breaker.model_answered()
    breaker.model_failed("the server answered 500")
    breaker.model_failed("the server answered 500")
    with pytest.raises(LimitReached):
        breaker.model_failed("the server answered 500")


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 2), st.sampled_from(["x", "y"])), max_size=30),
    st.integers(0, 30),
)
def test_a_saved_breaker_goes_on_where_it_was(steps: list[tuple[str, int, str]], cut: int) -> None:
    def play(breaker: Breaker, some: list[tuple[str, int, str]]) -> None:
        for tool, value, error in some:
            breaker.failed(tool, {"v": value}, error)

    whole, first = Breaker(3), Breaker(3)
    play(whole, steps)
    play(first, steps[:cut])
    second = Breaker.load(3, first.saved())
    play(second, steps[cut:])
    assert second.saved() == whole.saved()


@pytest.mark.parametrize("saved", [None, [], "x", {"a": 1}, {"a": {"b": "c"}}])
def test_a_state_that_is_none_counts_as_empty(saved: object) -> None:
    Breaker.load(3, saved).check("t", {})  # type: ignore[arg-type]  # what a damaged note may hold
