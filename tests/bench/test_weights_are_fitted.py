"""The weights are fitted to the signals that find the right notes, and what they miss is listed."""

import numpy as np

from agent.index.keyword import SIGNALS
from tests.bench.tune import Missed, Sample, fit, hits, missed, ranks, samples
from tests.bench.vault import MemoryVault

NOTE, HOOD = SIGNALS.index("note"), SIGNALS.index("hood")


def sample(note: list[float], hood: list[float], right: int) -> Sample:
    """A question whose candidates have these two signals."""
    rows = np.zeros((len(note), len(SIGNALS)))
    rows[:, NOTE], rows[:, HOOD] = note, hood
    return Sample("c0", "Which kettle?", rows, np.arange(len(note)) == right)


def weighed(note: float, hood: float) -> np.ndarray:
    weights = np.zeros(len(SIGNALS))
    weights[NOTE], weights[HOOD] = note, hood
    return weights


LATE = sample(note=[1, 0.9, 0.8, 0.7, 0.6, 0.5, 0], hood=[0, 0, 0, 0, 0, 0.2, 1], right=6)


def test_a_question_that_comes_late_is_listed_with_the_rank_by_each_signal() -> None:
    early = sample(note=[0, 1], hood=[1, 0], right=1)
    assert ranks([early, LATE], weighed(1, 0.1)) == [0, 6]
    assert hits([early, LATE], weighed(1, 0.1)) == [0.5, 0.5, 1.0]
    assert missed([early, LATE], weighed(1, 0.1)) == [Missed("Which kettle?", 6, {"note": 17, "hood": 0})]
    assert missed([early, LATE], weighed(1, 0.1), most=7) == []


def test_the_signal_that_finds_the_right_notes_gets_the_weight() -> None:
    fitted = fit([LATE, sample(note=[1, 0.9], hood=[0.1, 1], right=1)])
    assert fitted[HOOD] > fitted[NOTE]
    assert hits([LATE], fitted)[0] == 1.0


def test_a_search_gives_the_candidates_with_their_signals() -> None:
    vault = MemoryVault({"tea.md": b"# Tea\nA kettle of green tea.", "bus.md": b"# Bus\nThe bus was late."})
    (found,) = samples("c0", vault, [("Where is the kettle?", frozenset({"tea.md"}))])
    assert found.text == "Where is the kettle?"
    assert ranks([found], weighed(1, 1)) == [0]
    assert found.rows.min() >= 0 and found.rows.max() == 1.0
