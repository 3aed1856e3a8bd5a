"""The parts of a request that are searched for one by one: its sentences, and the clauses of a long one.

"Which roofer should I take? Consider everything my notes say, money and time." asks one thing and has many words:
searched as a whole, the words that nothing answers speak against the note that does.
"""

import re
from collections.abc import Iterable

from agent.index.analysis import query_terms
from agent.index.query import without_filters
from agent.memory.forgetting.sentences import SENTENCE

MOST = 6
"""The most sentences of a request, and the most parts of one, that are searched for: the first and the last ones."""
_LONGEST = 600
"""The most characters of one part."""
_CLAUSE = re.compile(r"[,，:：—、](?!\d)\s*")
_WORDS, _CHARACTERS = 12, 20
"""A sentence with more words (or characters of a script without spaces) is also searched for clause by clause."""
_TERMS = 2
"""The least terms of a clause that is searched for by itself."""


def sentences(task: str) -> tuple[str, ...]:
    """The sentences of a request that say something, in their order, with nothing in them that parses as a filter."""
    return _few(_plain(found) for found in SENTENCE.findall(task) if query_terms(found))


def clauses(sentence: str) -> tuple[str, ...]:
    """A sentence, and the clauses of a long one."""
    is_long = len(sentence.split()) > _WORDS or (not sentence.isascii() and len(sentence) > _CHARACTERS)
    own = [each for each in _CLAUSE.split(sentence) if len(query_terms(each)) >= _TERMS] if is_long else []
    return _few((sentence, *own)) if len(own) > 1 else (sentence,)


def whole_sentence(sentence: str) -> tuple[str, ...]:
    """The sentence as its only part."""
    return (sentence,)


def _few(parts: Iterable[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(parts))
    return found if len(found) <= MOST else (*found[: MOST // 2], *found[-MOST // 2 :])


def _plain(part: str) -> str:
    return without_filters(" ".join(part.split())[:_LONGEST])
