"""The boxes below a suggestion in a note, by which its person says whether it was helpful, and how they are read."""

import re

from agent.attention.receipt import Reaction
from agent.texts import Language, in_all_languages, text

OPINIONS: tuple[Reaction, ...] = ("helpful", "not_helpful")
_ID = 6
"""The characters of an id's end by which its person names a notice."""
_BOX = re.compile(rf"(.+?) · ([0-9a-z]{{{_ID}}})")


def notice_code(id: str) -> str:
    """The end of a notice's id, by which its person names it."""
    return id[-_ID:].lower()


def opinion_words(opinion: Reaction, language: Language) -> str:
    """An opinion in words, as the boxes below a run have it."""
    return text(f"skill_feedback.{opinion}", language)


def opinion_box(words: str, id: str) -> str:
    """The line of a list with an empty box for an opinion about a notice."""
    return f"[ ] {words} · {notice_code(id)}"


def opinion_reply(opinion: Reaction, id: str) -> str:
    """The reply that a button below a suggestion in a messenger sends, such as `helpful 4k2m9x`."""
    return f"{opinion} {notice_code(id)}"


def parse_opinion_reply(reply: str) -> tuple[str, Reaction] | None:
    """The code of a notice and the opinion, from the reply that a button sends; None for any other text."""
    words = reply.split()
    found = next((each for each in OPINIONS if words[:1] == [each]), None)
    return (words[1].lower(), found) if found is not None and len(words) == 2 else None


def parse_opinion_box(task: str) -> tuple[str, Reaction] | None:
    """The code of a notice and the opinion, from the text of a ticked box; None for any other box."""
    found = _BOX.fullmatch(task.strip())
    if found is None:
        return None
    for opinion in OPINIONS:
        if found[1] in in_all_languages(f"skill_feedback.{opinion}"):
            return found[2], opinion
    return None
