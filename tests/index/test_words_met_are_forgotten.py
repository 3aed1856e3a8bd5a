"""Words that were met are forgotten where they are many, and are found to have the same terms after it."""

from agent.index import analysis, arrays
from agent.index.analysis import stem, terms
from agent.index.arrays import hash_terms
from agent.index.words_met import FEW, forget_words_met

TEXT = "\n".join(
    f"walking 2026-11-30T10:{number:05} word{number} {chr(97 + number % 26)}gpd{number}x" for number in range(FEW)
)


def test_nothing_but_time_is_lost() -> None:
    def found() -> tuple[list[str], list[int]]:
        words = terms(TEXT)
        return words, hash_terms(words).tolist()

    before = found()
    assert min(len(analysis._weighty), len(arrays._hashes)) > FEW
    forget_words_met()
    assert max(len(analysis._weighty), len(arrays._hashes), stem.cache_info().currsize) <= FEW
    assert found() == before


def test_as_many_as_are_allowed_stay() -> None:
    forget_words_met()
    terms(TEXT)
    held = len(analysis._weighty)
    forget_words_met(held)
    assert len(analysis._weighty) == held
    forget_words_met(held - 1)
    assert not analysis._weighty


def test_a_few_words_stay() -> None:
    forget_words_met()
    terms("a kettle by the lake")
    forget_words_met()
    assert "kettle" in analysis._weighty
