"""Which gaps are none any more: what was asked before, in the same or in like words, also in a note that the person has
thrown away; and what the person has said meanwhile."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import cached_property

from agent.asking.questions.law import EverAsked, ever_asked
from agent.asking.questions.notes import AskedQuestion
from agent.dataclass import dataclass
from agent.growth.curiosity.gap import CuriousGap
from agent.growth.patterns.gather import notes_of_days
from agent.growth.patterns.likeness import words_in
from agent.memory.store import load_entries
from agent.runs.owner import is_stated_by_owner
from agent.tools.text_origin import text_origin_of
from agent.vault.folders import ENTRIES
from agent.vault.store import Vault

ASKED, SAID = 0.8, 0.75
"""The share of the words of a gap that an earlier question, or a statement, has when it is about the same."""
_FEWEST = 2
"""The fewest words by which a gap is known; fewer say too little."""
RECENT = timedelta(days=7)
"""The time in which a question that a run has asked is not asked beside it."""
_DAYS = 60
"""The days in which what was said is looked through."""


@dataclass
class KnownAlready:
    """What is known already in one vault, with the questions of its notes; looked up when it is asked for first."""

    vault: Vault
    now: datetime
    asked: Sequence[AskedQuestion]

    @cached_property
    def ever(self) -> EverAsked:
        """What was ever asked about."""
        return ever_asked(self.vault)

    @cached_property
    def recent(self) -> tuple[str, ...]:
        """The questions of the last days, also of runs."""
        since = self.now - RECENT
        found = ((each.moment("created"), each.title) for each in self.asked)
        return tuple(title for at, title in found if at is not None and at >= since)

    @cached_property
    def statements(self) -> tuple[frozenset[str], ...]:
        """The words of each statement of the person's own."""
        days = (self.now.date() - timedelta(days=back) for back in range(_DAYS))
        origin, found = text_origin_of(self.vault), load_entries(self.vault, notes_of_days(self.vault, ENTRIES, days))
        return tuple(words_in(each.entry.text) for each in found if is_stated_by_owner(each, origin))

    def left_out_of(self, gaps: Iterable[CuriousGap]) -> Iterator[CuriousGap]:
        """The gaps that are still worth a question."""
        return (each for each in gaps if not self.is_known(each))

    def is_known(self, gap: CuriousGap) -> bool:
        """True if the gap was asked about, or its words have been said since."""
        titles = self.recent if gap.is_of_work else self.ever.titles
        if self.ever.has(gap.key) or _plain(gap.question.partition("\n")[0]) in map(_plain, titles):
            return True
        words = words_in(gap.about)
        if len(words) < _FEWEST or gap.is_of_work:
            return False
        if any(_share(words, words_in(title)) >= ASKED for title in self.ever.titles):
            return True
        return gap.kind == "knowledge" and any(_share(words, said) >= SAID for said in self.statements)


def _plain(title: str) -> str:
    return " ".join(title.casefold().split())


def _share(words: frozenset[str], among: frozenset[str]) -> float:
    return len(words & among) / len(words)
