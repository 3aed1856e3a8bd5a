"""Words that were met are remembered while texts are taken in, as most come again; later, most were ids and times."""

from agent.index.analysis import forget_terms
from agent.index.arrays import forget_checksums

FEW = 2_048
"""Words that are not worth forgetting. To meet those of a note anew takes 2 ms."""
MOST = 16_384
"""Words that one who saves note after note meets again; those of 250 long notes take 40 MB."""


def forget_words_met(few: int = FEW) -> None:
    """Forget the terms and checksums of words, where they are more than `few`; for the time after an update."""
    forget_terms(few)
    forget_checksums(few)
