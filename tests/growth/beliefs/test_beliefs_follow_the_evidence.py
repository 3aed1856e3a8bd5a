"""The laws of beliefs: agreeing evidence never lowers one, the order of a day's evidence does not matter, what is older
counts less, and what is stated settles what was shown before."""

from datetime import timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.growth.beliefs.blocks import CONFIRMED, STRENGTH, TOLD, Belief, believe
from agent.growth.beliefs.sign import Sign, SignKind
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


@given(st.lists(SIGNALS, min_size=1, max_size=30), st.integers(0, 200), st.sampled_from(KINDS))
def test_agreeing_evidence_never_lowers_a_belief(signals: list[Sign], days: int, kind: SignKind) -> None:
    before = believe(signals, TODAY)
    if before is None:
        return
    after = found([*signals, signal(before.value, days, kind)])
    assert after.value == before.value
    assert after.confidence >= before.confidence - 1e-12
    assert len(after.signs) >= len(before.signs)


def test_the_running_mean_falls_by_a_weak_signal_that_agrees_and_the_belief_does_not() -> None:
    strong = [signal("shorter", day, "stated") for day in range(8)]
    before, after = found(strong), found([*strong, signal("shorter", 0, "followed_up")])
    assert before.mean == pytest.approx(0.9) and after.mean == pytest.approx(0.83, abs=0.005)
    assert after.confidence > before.confidence


@given(st.lists(SIGNALS, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_the_order_does_not_matter(signals: list[Sign], random: Random) -> None:
    shuffled = list(signals)
    random.shuffle(shuffled)
    assert believe(signals, TODAY) == believe(shuffled, TODAY)


@given(st.lists(SIGNALS, min_size=1, max_size=12), SIGNALS, st.integers(1, 60))
def test_evidence_against_a_belief_counts_less_the_older_it_is(signals: list[Sign], other: Sign, days: int) -> None:
    belief = believe(signals, TODAY)
    if belief is None or other.value == belief.value:
        return
    older = signal(other.value, (TODAY - other.day).days + days, other.kind)
    fresh, old = found([*signals, other]), found([*signals, older])
    share = {each.value: each.confidence for each in (fresh,)}.get(belief.value, 1 - fresh.confidence)
    later = old.confidence if old.value == belief.value else 1 - old.confidence
    assert later >= share - 1e-12


@given(st.lists(SIGNALS, min_size=1, max_size=20))
def test_a_belief_is_never_certain(signals: list[Sign]) -> None:
    belief = believe(signals, TODAY)
    assert belief is None or 0.0 < belief.confidence < 1.0


@pytest.mark.parametrize(
    ("kind", "least"),
    [("answered", 1), ("stated", 1), ("edited", 2), ("requested", 2), ("chosen", 3), ("followed_up", 3)],
)
def test_it_takes_so_many_signals_of_a_kind(kind: SignKind, least: int) -> None:
    alike = [signal("shorter", day, kind) for day in range(least)]
    assert found(alike).is_told
    assert least == 1 or not found(alike[1:]).is_enough


def test_an_answer_confirms_and_no_weaker_signal_does_at_once() -> None:
    assert found([signal("shorter", 0, "answered")]).confidence > CONFIRMED
    assert TOLD < found([signal("shorter", 0, "stated")]).confidence < CONFIRMED


def test_what_is_stated_settles_what_was_shown_before() -> None:
    shown = [signal("shorter", day) for day in range(1, 9)]
    belief = found([*shown, signal("longer", 0, "stated")])
    assert (belief.value, belief.against, belief.is_told) == ("longer", (), True)
    belief = found([*shown[1:], signal("shorter", 0), signal("shorter", 0), signal("longer", 1, "stated")])
    assert (belief.value, belief.is_doubted) == ("shorter", True), "what they do since says otherwise, so it is asked"


def test_more_than_a_third_against_it_makes_it_a_question_and_one_accident_does_not() -> None:
    shown = [signal("shorter", day) for day in range(6)]
    assert not found([*shown, signal("longer")]).is_doubted
    assert not found([*shown[:2], signal("longer")]).is_doubted, "one edit may be an accident"
    assert found([*shown, signal("longer"), signal("longer", 1)]).is_doubted


@pytest.mark.parametrize("rate", [1, 2, 5])
def test_who_changes_their_mind_is_followed_within_a_half_life(rate: int) -> None:
    """Habits alone, at any steady rate: 60 days one way, then the other. The belief flips, and is told again."""
    signals = [signal("shorter", day) for day in range(50, 110, rate)]
    flipped = told = None
    for day in range(49, -1, -rate):
        signals.append(signal("longer", day))
        belief = believe(signals, TODAY - timedelta(days=day))
        assert belief is not None
        flipped = flipped if flipped is not None or belief.value != "longer" else 50 - day
        told = told if told is not None or belief.value != "longer" or not belief.is_told else 50 - day
    assert flipped is not None and flipped <= 45, flipped
    belief = believe(signals, TODAY)
    assert belief is not None and belief.value == "longer"
