"""The boxes below a suggestion in a note, by which its person says whether it was helpful, and how they are read."""

import re

from agent.attention.receipt import Reaction
from agent.texts import Language, in_all_languages, text

OPINIONS: tuple[Reaction, ...] = ("helpful", "not_helpful")
_ID = 6
"""The characters of an id's end by which its person names a notice."""
_CODE = rf"[0-9a-z]{{{_ID}}}"
_BOX = re.compile(rf"(.+?) · ({_CODE})")


def notice_code(id: str) -> str:
    """The end of a notice's id, by which its person names it."""
    return id[-_ID:].lower()


def opinion_words(opinion: Reaction, language: Language) -> str:
    """An opinion in words, as the boxes below a run have it."""
    return text(f"skill_feedback.{opinion}", language)


def opinion_box(words: str, id: str) -> str:
    """The line of a list with an empty box for an opinion about a notice."""
    return f"[ ] {words} · {notice_code(id)}"


def opinion_reply(opinion: Reaction, id: str, language: Language) -> str:
    """What a button below a suggestion in a messenger stands for, and what its person may type: the opinion in words
    and the code."""
    return f"{opinion_words(opinion, language)} {notice_code(id)}"


def parse_opinion_reply(reply: str) -> tuple[str, Reaction] | None:
    """The code of a notice and the opinion, from a reply in any language; None for any other text."""
    *said, code = reply.casefold().split() or [""]
    words = " ".join(said)
    known = {word: each for each in OPINIONS for word in (each, *in_all_languages(f"skill_feedback.{each}"))}
    return (code, known[words]) if words in known and re.fullmatch(_CODE, code) else None


def parse_opinion_box(task: str) -> tuple[str, Reaction] | None:
    """The code of a notice and the opinion, from the text of a ticked box; None for any other box."""
    found = _BOX.fullmatch(task.strip())
    if found is None:
        return None
    for opinion in OPINIONS:
        if found[1] in in_all_languages(f"skill_feedback.{opinion}"):
            return found[2], opinion
    return None
