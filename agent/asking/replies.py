"""Replies in a messenger that decide or answer: `yes 7K2`, `no 7K2 too long`, `7K2 the second`, `同意 7K2`. Pure.

Whose words they are, and what follows, is the caller's matter.
"""

import re

from agent.asking.codes import CODE
from agent.dataclass import dataclass
from agent.texts import in_all_languages


def _words(key: str) -> tuple[str, ...]:
    """The words of this key in all languages, the longest first."""
    found = {word for sentence in in_all_languages(key) for word in sentence.split()}
    return tuple(sorted(found, key=lambda word: (-len(word), word)))


YES, NO = _words("decide.yes"), _words("decide.no")
"""The words of consent and of refusal, in all languages."""
_PAUSE = r"[\s,.:;!，。：；！、]"
_REPLY = re.compile(
    rf"{_PAUSE}*(?:(?P<word>{'|'.join(map(re.escape, (*YES, *NO)))})(?:{_PAUSE}+|(?<=[\u4e00-\u9fff])))?"
    rf"(?P<code>{CODE})(?:{_PAUSE}+(?P<rest>.*)|)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class DecisionReply:
    """A reply with the code of a note. `yes` is None without a word of consent or refusal; `word` is that word, `rest`
    what follows the code."""

    code: str
    yes: bool | None
    word: str = ""
    rest: str = ""


def parse_decision(words: str) -> DecisionReply | None:
    """The reply in these words; None if they are none.

    A yes or no may stand before the code or after it.
    """
    found = _REPLY.fullmatch(words.strip())
    if found is None:
        return None
    word, rest = found["word"] or "", (found["rest"] or "").strip()
    if not word:
        first, _, after = rest.partition(" ")
        if first.casefold() in (*YES, *NO):
            word, rest = first, after.strip()
    yes = None if not word else word.casefold() in YES
    return DecisionReply(found["code"].upper(), yes, word, rest)
