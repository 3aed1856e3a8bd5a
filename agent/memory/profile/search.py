"""Finds what a profile says about a query, by the words they share; empty fields are never found."""

from collections.abc import Sequence

from agent.dataclass import dataclass
from agent.index.analysis import terms
from agent.memory.profile.profile_file import ProfileFile

_LINE, _NOTE = 1.0, 0.4
"""The weight of a word in a line, and of one in the note's title, keywords and summary."""


@dataclass(frozen=True, slots=True)
class ProfileHit:
    """A line of a note, or the note as a whole, with its score from 0 to 1."""

    file: ProfileFile
    text: str
    score: float


def search_profile(files: Sequence[ProfileFile], query: str, limit: int) -> tuple[ProfileHit, ...]:
    """The lines that fit best; of a note that fits by its title only, all of its lines, after those."""
    wanted = frozenset(terms(query))
    if not wanted:
        return ()
    hits: list[ProfileHit] = []
    for each in files:
        about = _NOTE * _share(wanted, " ".join((each.title, *each.keywords, each.summary)))
        for text in each.said:
            score = min(_LINE * _share(wanted, text) + about, 1.0)
            if score > 0:
                hits.append(ProfileHit(each, text, round(score, 3)))
    return tuple(sorted(hits, key=lambda hit: -hit.score)[:limit])


def _share(wanted: frozenset[str], text: str) -> float:
    return len(wanted & frozenset(terms(text))) / len(wanted)
