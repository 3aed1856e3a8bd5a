"""The order of search results for a person: their notes and the facts that they told, before what the program wrote
and templates.

What the program writes repeats the words of a question, so it would often be the best match: the transcript of the same
question, or a note that explains a folder.
"""

from dataclasses import replace

from agent.index.hit import Hit, SearchResult
from agent.vault.folders import ENTRIES, INBOX, OWN_NOTES, AgentFolder, is_template

MORE = 50
"""Number of hits that are requested beside those that are shown: many transcripts may repeat one question."""
_SHARE = 0.5
"""The factor for the score of such a note: it is before a note of the person's only if it fits twice as well."""
_ABOUT = ("type", "about")
_TOLD = frozenset({("type", "user_explicit"), ("type", "fact")})
"""Of the entries, what a person asked to remember, and stated."""
_BY_WORDS = frozenset({"note", "title", "unit", "hood", "date"})
"""The signals that only a word of the query, or a day that it names, gives."""
_PERSONS = frozenset({OWN_NOTES.path, INBOX})


def person_first(answer: SearchResult, limit: int, home: AgentFolder) -> SearchResult:
    """The best `limit` hits, where templates and the program's own notes count for half; `is_near` if none of these has
    a word of the query, for hits with their legs."""
    hits = [hit if is_persons(hit, home) else replace(hit, score=round(hit.score * _SHARE, 6)) for hit in answer.hits]
    hits.sort(key=lambda hit: -hit.score)
    shown = tuple(hits[:limit])
    legs = [leg for hit in shown for leg in hit.why]
    is_near = (
        bool(legs)
        and answer.mode in {"hybrid", "vector"}
        and not any(leg.name in _BY_WORDS and leg.score > 0 for leg in legs)
    )
    return replace(answer, hits=shown, is_near=is_near)


def is_persons(hit: Hit, home: AgentFolder) -> bool:
    """True if a person wrote the note for its content, or told what it says."""
    row = home.row(hit.path).path
    if row == ENTRIES:
        return not _TOLD.isdisjoint(hit.facets)
    return row in _PERSONS and not is_template(hit.path) and _ABOUT not in hit.facets
