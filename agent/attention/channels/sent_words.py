"""What the agent has sent, so that a reply's quotation of it is recognised however it was wrapped and marked.

A text is its words in their order, without case, punctuation and marks; what is kept of it are keyed digests of each
three words that follow each other, from which nobody can read the text. Unknown is not trusted: of a text whose
digests are gone, nothing is recognised.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from agent.config import private
from agent.dataclass import dataclass

_TOGETHER = 3
_SIZE = 8
"""The bytes of a digest."""
_LEAST = 6
"""The words in a row that are recognised in a text without marks of quotation; three may be the person's own."""
_KEPT = 400
"""The mails whose digests are kept."""
_WORD = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]|[^\W_\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
"""A word; a single character of the scripts that set no spaces."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it is compared, and where it stands in its text."""

    text: str
    start: int
    end: int


def words_of(text: str) -> list[Word]:
    """The words of a text, in order."""
    return [
        Word(unicodedata.normalize("NFKC", found[0]).casefold(), found.start(), found.end())
        for found in _WORD.finditer(text)
    ]


@dataclass(frozen=True, slots=True)
class SentWords:
    """The digests of one text that was sent; without any, nothing is recognised."""

    digests: frozenset[bytes] = frozenset()
    key: bytes = b""

    def matches(self, words: Sequence[Word]) -> list[bool]:
        """For each word, True if it stands among the words that were sent."""
        found = [False] * len(words)
        for at, digest in enumerate(_digests(words, self.key)):
            if digest in self.digests:
                found[at : at + _TOGETHER] = [True] * len(found[at : at + _TOGETHER])
        return found

    def is_whole_in(self, words: Sequence[Word]) -> bool:
        """True if all that was sent is among these words."""
        return bool(self.digests) and self.digests <= set(_digests(words, self.key))

    def first_match(self, text: str) -> int | None:
        """Where in a text the first words begin that were sent; None if there are too few to tell."""
        words = words_of(text)
        run = 0
        for at, matched in enumerate(matches := self.matches(words)):
            run = run + 1 if matched else 0
            is_end = run >= _TOGETHER and not any(matches[at + 1 : at + 2])
            if run >= _LEAST or (is_end and self.is_whole_in(words[at + 1 - run : at + 1])):
                return words[at + 1 - run].start
        return None

    def rest(self, text: str) -> str:
        """The lines of a text with a word that was not sent."""
        words = words_of(text)
        left = [word.start for word, matched in zip(words, self.matches(words), strict=True) if not matched]
        lines, at = list[str](), 0
        for line in text.splitlines(keepends=True):
            place = bisect_left(left, at)
            at += len(line)
            if place < len(left) and left[place] < at:
                lines.append(line)
        return "".join(lines).strip()


NOTHING_SENT = SentWords()


@dataclass(frozen=True, slots=True)
class SentMails:
    """The digests of the last mails, a file for each in `folder`; `key` is known on this machine only."""

    folder: Path
    key: bytes

    def note(self, id: str, text: str) -> None:
        """Keep the digests of a mail before it is sent; where that fails, its quotation is not recognised."""
        digests = sorted(set(_digests(words_of(text), self.key)))
        with suppress(OSError):
            private.make_folder(self.folder)
            for old in sorted(self.folder.glob("*.words"), key=lambda each: each.stat().st_mtime)[:-_KEPT]:
                old.unlink()
            private.replace(self._file(id), b"".join(digests).hex())

    def of(self, id: str) -> SentWords:
        """The digests of the mail with this Message-ID; `NOTHING_SENT` if they are not known, or damaged."""
        with suppress(OSError, ValueError):
            data = bytes.fromhex(self._file(id).read_text("ascii"))
            return SentWords(frozenset(data[at : at + _SIZE] for at in range(0, len(data), _SIZE)), self.key)
        return NOTHING_SENT

    def _file(self, id: str) -> Path:
        return self.folder / f"{blake2b(id.encode('utf-8', 'replace'), key=self.key, digest_size=16).hexdigest()}.words"


def keep_nothing(id: str, text: str) -> None:
    """Nothing: no quotation of this mail will be recognised."""


def sent_words(text: str, key: bytes = b"") -> SentWords:
    """The digests of a text."""
    return SentWords(frozenset(_digests(words_of(text), key)), key)


def _digests(words: Sequence[Word], key: bytes) -> list[bytes]:
    """The digest of each three words in a row; of all words, if there are fewer."""
    count = max(len(words) - _TOGETHER + 1, 1 if words else 0)
    rows = ("\n".join(each.text for each in words[at : at + _TOGETHER]) for at in range(count))
    return [blake2b(row.encode("utf-8", "replace"), key=key, digest_size=_SIZE).digest() for row in rows]
