"""The order of search results for a person: their own notes before those that the program wrote, and templates.

What the program writes repeats the words of a question, so it would often be the best match: the transcript of the same
question, or a note that explains a folder.
"""

from dataclasses import replace

from agent.index.hit import Hit, SearchResult
from agent.vault.folders import INBOX, OWN_NOTES, AgentFolder, is_template

MORE = 50
"""Number of hits that are requested beside those that are shown: many transcripts may repeat one question."""
_SHARE = 0.5
"""The factor for the score of such a note: it is before a note of the person's only if it fits twice as well."""
_ABOUT = ("type", "about")
_PERSONS = frozenset({OWN_NOTES.path, INBOX})


def person_first(answer: SearchResult, limit: int, home: AgentFolder) -> SearchResult:
    """The best `limit` hits, where templates and the program's own notes count for half."""
    hits = [hit if is_persons(hit, home) else replace(hit, score=round(hit.score * _SHARE, 6)) for hit in answer.hits]
    hits.sort(key=lambda hit: -hit.score)
    return replace(answer, hits=tuple(hits[:limit]))


def is_persons(hit: Hit, home: AgentFolder) -> bool:
    """True if a person wrote the note for its content."""
    return home.row(hit.path).path in _PERSONS and not is_template(hit.path) and _ABOUT not in hit.facets
