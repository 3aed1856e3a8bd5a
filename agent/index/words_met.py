"""Words that were met are remembered while texts are taken in, as most come again; later, most were ids and times."""

from agent.index.analysis import forget_terms
from agent.index.arrays import forget_checksums
from agent.index.pieces import forget_pieces

FEW = 2_048
"""Words that are not worth forgetting. To meet those of a note anew takes 2 ms."""


def forget_words_met() -> None:
    """Forget the terms, checksums and tokens of words, where they are many; for the time after an update."""
    forget_terms(FEW)
    forget_checksums(FEW)
    forget_pieces(FEW)
