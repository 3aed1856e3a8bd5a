"""The laws of beliefs: a running mean that no agreeing sign lowers, by their days; what is said beats what is shown,
and the last word an earlier one."""

from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.growth.beliefs.blocks import CONFIRMED, STRENGTH, Belief, believe
from agent.growth.beliefs.sign import Sign, SignKind
from agent.memory.profile.owner import TOLD
from tests.growth.beliefs.house import TODAY, signal

KINDS: list[SignKind] = list(STRENGTH)
SIGNALS = st.builds(
    signal,
    st.sampled_from(["shorter", "longer"]),
    st.integers(0, 200),
    st.sampled_from(KINDS),
)


def found(signals: list[Sign]) -> Belief:
    belief = believe(signals, TODAY)
    assert belief is not None
    return belief


@given(st.lists(SIGNALS, min_size=1, max_size=19))
def test_the_confidence_is_the_mean_of_what_decides_and_no_agreeing_sign_lowers_it(signals: list[Sign]) -> None:
    belief = found(signals)
    deciding = [each for each in belief.signs if each.kind in ("answered", "stated")] or list(belief.signs)
    strengths = [STRENGTH[each.kind] for each in deciding]
    assert sum(strengths) / len(strengths) - 1e-9 <= belief.confidence <= max(strengths) + 1e-9
    tomorrow = TODAY + timedelta(days=1)
    after = believe([*signals, replace(belief.signs[0], kind="followed_up", day=tomorrow)], tomorrow)
    assert after is not None and (after.confidence >= belief.confidence - 1e-9 or after.value != belief.value)


def test_a_weak_sign_that_agrees_takes_no_wish_back() -> None:
    shown = [signal("shorter", 3), signal("shorter", 2)]
    weak = [signal("shorter", day, "followed_up") for day in (1, 0)]
    assert found(shown).is_used and found([*shown, *weak]).is_used


@given(st.lists(SIGNALS, min_size=1, max_size=19))
def test_the_last_word_holds(signals: list[Sign]) -> None:
    said, signals = signal("longer", 0, "answered"), [each for each in signals if each.day < TODAY]
    assert found([*signals, said]).value == "longer" and found([*signals, said]).confidence >= 0.9


@given(st.lists(SIGNALS, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_the_order_does_not_matter(signals: list[Sign], random: Random) -> None:
    shuffled = list(signals)
    random.shuffle(shuffled)
    assert believe(signals, TODAY) == believe(shuffled, TODAY)


@pytest.mark.parametrize(
    ("kind", "least"),
    [("answered", 1), ("stated", 1), ("edited", 2), ("requested", 2), ("chosen", 3)],
)
def test_it_takes_so_many_signals_of_a_kind(kind: SignKind, least: int) -> None:
    alike = [signal("shorter", day, kind) for day in range(least)]
    assert found(alike).is_used
    assert least == 1 or not found(alike[1:]).is_enough


def test_an_answer_confirms_and_no_weaker_signal_does_at_once() -> None:
    assert found([signal("shorter", 0, "answered")]).confidence > CONFIRMED
    assert TOLD < found([signal("shorter", 0, "stated")]).confidence <= CONFIRMED


def test_what_is_stated_settles_what_was_shown_before() -> None:
    shown = [signal("shorter", day) for day in range(1, 9)]
    belief = found([*shown, signal("longer", 0, "stated")])
    assert (belief.value, belief.against, belief.is_used) == ("longer", (), True)
    belief = found([*shown[1:], signal("shorter", 0), signal("shorter", 0), signal("longer", 1, "stated")])
    assert (belief.value, belief.is_doubted) == ("longer", True), "what they do since says otherwise, so it is asked"


def test_more_than_a_third_against_it_makes_it_a_question_and_one_accident_does_not() -> None:
    shown = [signal("shorter", day) for day in range(6)]
    assert not found([*shown, signal("longer")]).is_doubted
    assert not found([*shown[:2], signal("longer")]).is_doubted, "one edit may be an accident"
    assert found([*shown, signal("longer"), signal("longer", 1)]).is_doubted


@pytest.mark.parametrize("rate", [1, 2, 5])
def test_who_changes_their_mind_is_followed(rate: int) -> None:
    """Habits alone, at any steady rate: first one way, then the other. It is asked about, then flips, and is told."""
    signals = [signal("shorter", rate * (40 + number)) for number in range(30)]
    stages = []
    for number in range(20, 0, -1):
        signals.append(signal("longer", rate * number))
        belief = found(signals)
        stages.append((belief.value, belief.is_used))
    assert stages[0] == ("shorter", True) and ("shorter", False) in stages and stages[-1] == ("longer", True)
