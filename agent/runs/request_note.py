"""The task of a request in a note: its words, and a link to the note below them.

The link tells the model where the request stands. Whoever looks something up for the task, or names it, goes by the
words alone.
"""

import re

from agent.memory.recall.likely import HeldText

_LINK = re.compile(r"\n\n\(\[\[([^\[\]\n]+)\]\]\)\Z")


def with_link(words: str, path: str) -> str:
    """The task of a request with these words in the note at this path."""
    return f"{words}\n\n([[{path.removesuffix('.md')}]])"


def words_of(task: str) -> str:
    """The words of a task, without the link that `with_link` adds."""
    return _LINK.sub("", task)


def only_asks(task: str, path: str, passage: str) -> bool:
    """True for a passage of the note in which a task stands that has nothing but the task's own words."""
    link = _LINK.search(task)
    return link is not None and f"{link[1]}.md" == path and HeldText.of([task]).has(passage)
