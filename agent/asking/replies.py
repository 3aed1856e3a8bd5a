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


YES, NO, LATER = _words("decide.yes"), _words("decide.no"), _words("decide.later")
"""The words of consent, of refusal and of putting off, in all languages."""
_PAUSE = r"[\s,.:;!，。：；！、]"
_FIRST = re.compile(rf"{_PAUSE}*([^\s,.:;!，。：；！、]+)(?:{_PAUSE}+(.*)|)", re.DOTALL)
_REPLY = re.compile(
    rf"{_PAUSE}*(?:(?P<word>{'|'.join(map(re.escape, (*YES, *NO)))})(?:{_PAUSE}+|(?<=[\u4e00-\u9fff])))?"
    rf"(?P<code>{CODE})(?:{_PAUSE}+(?P<rest>.*)|)",
    re.IGNORECASE | re.DOTALL,
)
_WIDE = {wide: wide - 0xFEE0 for first, last in ("０９", "ＡＺ", "ａｚ") for wide in range(ord(first), ord(last) + 1)}
"""The letters and digits of full width, as Chinese and Japanese input methods type them, with the usual ones."""


@dataclass(frozen=True, slots=True)
class Consent:
    """A word of consent or refusal, as typed, and `rest`, what follows it."""

    yes: bool
    word: str
    rest: str = ""


@dataclass(frozen=True, slots=True)
class DecisionReply:
    """A reply with the code of a note. `yes` is None without a word of consent or refusal; `word` is that word, `rest`
    what follows the code."""

    code: str
    yes: bool | None
    word: str = ""
    rest: str = ""


def parse_yes_or_no(words: str) -> Consent | None:
    """The yes or no with which these words begin; None if they begin with another word."""
    found = _FIRST.fullmatch(words.strip())
    word = _folded(found[1]) if found else ""
    if found is None or word not in (*YES, *NO):
        return None
    return Consent(word in YES, found[1], (found[2] or "").strip())


def is_later(words: str) -> bool:
    """True for words that put off, and for none."""
    found = _FIRST.fullmatch(words.strip())
    return found is None or _folded(found[1]) in LATER


def parse_decision(words: str) -> DecisionReply | None:
    """The reply in these words; None if they are none.

    A yes or no may stand before the code or after it.
    """
    words = words.strip()
    found = _REPLY.fullmatch(words.translate(_WIDE))  # as long as before, so that the places are those of the words
    if found is None:
        return None
    word, rest = found["word"] or "", words[found.start("rest") :].strip() if found["rest"] else ""
    code = found["code"].upper()
    if word:
        return DecisionReply(code, word.casefold() in YES, word, rest)
    after = parse_yes_or_no(rest)
    return DecisionReply(code, after.yes, after.word, after.rest) if after else DecisionReply(code, None, "", rest)


def _folded(word: str) -> str:
    return word.translate(_WIDE).casefold()
