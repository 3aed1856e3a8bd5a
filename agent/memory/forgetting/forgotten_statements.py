"""Recognises a text that is to be forgotten wherever it is said again, and takes it out of lines of notes.

A statement is said again by the same words as written, by a text with the same fingerprint, and by a sentence that has
all its words and more ("I noted that your sister Mara lives in Porto"). Unlike a tombstone, this knows the words
themselves, so it lives as long as one forgetting and is never stored.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from itertools import chain, islice, pairwise, zip_longest

from agent.dataclass import dataclass
from agent.json_value import parse_json
from agent.markdown.session_marks import is_mark
from agent.markdown.title import short_title
from agent.memory.entry import slug
from agent.memory.forgetting.tombstones import (
    PRONOUNS,
    SENTENCE,
    Tombstones,
    marks,
    says_something,
    without_lead,
    without_sentences,
)
from agent.memory.profile.statements import fields_stated
from agent.memory.understanding.wording import wording

MARK = "[forgotten]"
_MOST_STATEMENTS = 50
_LONGEST = 60
"""The words of a statement that are compared as written."""
_FEWEST = 3
"""The words that a statement needs so that a longer sentence with all of them says it, too."""
_FEWEST_OF_NAME = 2
"""The words, numbers aside, of a name that says something."""
_NEEDLES, _NEEDLE = 4, 3
_SHORT = 2_000
"""The characters of a text that is compared as a whole, too."""
_CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_JOINED = rf"[^\W{_CJK}]"
"""A letter or digit of a script with spaces: a word goes on there."""
_TOKEN = re.compile(rf"[{_CJK}]|{_JOINED}+")
_CODE = re.compile(r"(?!(?:19|20)\d\d$)\d{4,}")
"""A number of four digits or more that is no year."""
_CUT = "…"
_CUT_NAME = 30
"""The bytes of a name from which on it may have been cut (`slug` cuts before the word that would make it too long)."""
_LEAST_CUT, _LEAST_CUT_BYTES = 3, 10
"""The words, and their bytes, of a beginning that is known again where a text was cut short."""
_PREFIX = re.compile(r"^[ \t]*(?:(?:[-*+>]|#{1,6}|\d{1,3}[.)])[ \t]+)*")
_JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_JSON_ROW = re.compile(r'^(?:> )?\s*[{\["]')
_WIKILINK = re.compile(r"\[\[([^\]|#\n]+)[^\]\n]*\]\]")
_TARGET = re.compile(r"\[\[[^\]|\n]*\|?")
_OWN_NAME = re.compile(r"^\d{4}-\d\d-\d\d(?:-.*-[0-9a-z]{6}| .+)$")
_DAY_AND_ID = re.compile(r"^\d{4}-\d\d-\d\d[- ]|-[0-9a-z]{6}$")
_NUMBER = re.compile(r" \d{1,3}$")
"""The end of a name that another note of the day had already."""


@dataclass(frozen=True, slots=True)
class ForgottenStatement:
    """One statement to forget.

    `tokens` are its words in their order, folded; in scripts without spaces, its characters. `spelled` finds them as
    written, with any case and marks between them. `words` are its words and numbers, in the form that all their forms
    share; empty if a longer sentence with all of them need not say it. `codes` are its long numbers, such as those of
    doors and cards: a sentence with one of them gives the secret away. `longest` is its longest word as written, and
    `needles` are beginnings of others: a text without them does not say it.
    """

    tokens: tuple[str, ...]
    spelled: re.Pattern[str]
    longest: str
    needles: tuple[str, ...]
    words: frozenset[str] = frozenset()
    negated: bool = False
    codes: frozenset[str] = frozenset()

    def is_near(self, folded_text: str) -> bool:
        """True if the text may say it; a quick check."""
        if len(self.longest) > _NEEDLE and self.longest in folded_text:
            return True
        return all(map(folded_text.__contains__, self.needles)) or any(map(folded_text.__contains__, self.codes))

    def is_in(self, sentence: str) -> bool:
        """True if the sentence has all its words, or one of its codes."""
        if not (self.words or self.codes):
            return False
        found = wording(sentence)
        if self.codes & found.numbers:
            return True
        return bool(self.words) and found.negated == self.negated and self.words <= found.words | found.numbers

    def begins_at_the_end_of(self, text: str) -> bool:
        """True if the text was cut short after the beginning of the statement."""
        tokens = _tokens(text)
        for size in range(min(len(tokens), len(self.tokens)), _LEAST_CUT - 1, -1):
            *whole, last = tokens[-size:]
            if whole == list(self.tokens[: size - 1]) and self.tokens[size - 1].startswith(last):
                return len("".join(tokens[-size:]).encode()) >= _LEAST_CUT_BYTES
        return False


@dataclass(frozen=True, slots=True)
class ForgottenStatements(Tombstones):
    """The statements of one forgetting, with their fingerprints; `mark` stands in records where one of them stood.

    `names` are the names of notes (without folder and ending) that hold a statement, each with its new name; empty for
    a note that goes.
    """

    statements: tuple[ForgottenStatement, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    mark: str = MARK

    def is_near(self, text: str) -> bool:
        """True if the text may say a statement, or has one of the names; a quick check for whole notes."""
        return bool(self._near(text)) or any(name in text for name in self.names) or self._is_cut(text)

    def with_statements(self, texts: Iterable[str]) -> "ForgottenStatements":
        """The same, which knows the statements of further texts too."""
        known = {each.tokens for each in self.statements}
        further = (each for each in _statements(texts) if each.tokens not in known)
        return replace(self, statements=(*self.statements, *further))

    def with_names(self, names: Mapping[str, str]) -> "ForgottenStatements":
        """The same, which knows further names of notes, too."""
        return replace(self, names={**self.names, **names})

    @property
    def gap(self) -> str:
        return self.mark

    def is_forgotten(self, text: str) -> bool:
        """True if the text as a whole, or a sentence in it, says one of the statements; targets of links aside."""
        text = _TARGET.sub(" ", text) if "[[" in text else text
        if text.rstrip().endswith(_CUT) and any(each.begins_at_the_end_of(text) for each in self.statements):
            return True
        near = self._near(text)
        if not near:
            return False
        if any(each.spelled.search(text) for each in near):
            return True
        if len(text) < _SHORT and Tombstones.is_forgotten(self, text):
            return True
        return any(self._says(sentence) for sentence in SENTENCE.findall(text))

    def _says(self, sentence: str) -> bool:
        near = self._near(sentence)
        return bool(near) and (Tombstones.is_forgotten(self, sentence) or any(each.is_in(sentence) for each in near))

    def is_name(self, name: str) -> bool:
        """True if the name of a note, without folder and ending, holds a statement or its beginning."""
        undated = _DAY_AND_ID.sub("", name)
        words = _NUMBER.sub("", undated)
        is_cut = len(words.encode()) >= _CUT_NAME
        begun = is_cut and any(each.begins_at_the_end_of(words) for each in self.statements)
        return begun or any(each.spelled.search(undated) for each in self.statements)

    def concerns(self, text: str) -> bool:
        """True if a line of the text says one of the statements, or has one of the names; quick for long texts."""
        return any(name in text for name in self.names) or self.stands_in(text)

    def is_quoted(self, text: str) -> bool:
        """True if a text of any kind has the words of a statement in their order, or one of the names."""
        return any(each.spelled.search(text) for each in self._near(text)) or any(name in text for name in self.names)

    def stands_in(self, text: str) -> bool:
        """True if a line of the text says one of the statements; quick for long texts."""
        if any(each.spelled.search(text) for each in self._near(text)):
            return True
        return any(self.is_forgotten(row) for row in text.splitlines())

    def redacted(self, text: str) -> str:
        """The text of a record with `mark` for every sentence that says a statement, and without the names; its lines
        stay lines."""
        text = self.without_names(text)
        if not self.is_near(text):
            return text
        text = "".join(self._row(row) for row in text.splitlines(keepends=True))
        for each in self._near(text):  # what stands in two lines
            text = each.spelled.sub(lambda found: found[0] if _in_link(found) else self.mark, text)
        return text

    def without_names(self, row: str) -> str:
        """The row without links to notes that go, and with the new names of others."""
        for name, new in self.names.items():
            if name in row:
                row = with_name(row, name, new) if new else self._unlinked(row, name)
        return row

    def _unlinked(self, row: str, name: str) -> str:
        row = _WIKILINK.sub(lambda link: self.mark if has_name(link[1], name) else link[0], row)
        return with_name(row, name, self.mark)

    def _is_cut(self, text: str) -> bool:
        """True if a line of the text ends with the beginning of a statement."""
        cut = (row for row in text.splitlines() if row.rstrip().endswith(_CUT)) if _CUT in text else ()
        return any(each.begins_at_the_end_of(row) for row in cut for each in self.statements)

    def _row(self, row: str) -> str:
        if not self._near(row) and not self._is_cut(row):
            return row
        if _JSON_ROW.match(row) or is_mark(row):
            return _JSON_STRING.sub(lambda found: self._json(found[0]), row)
        if row.lstrip().startswith("|"):  # a table: its other cells say other things
            return "|".join(self._sentences(cell) for cell in row.split("|"))
        return self._sentences(row)

    def _json(self, literal: str) -> str:
        try:
            value = parse_json(literal)
        except ValueError:
            return literal
        left = self._sentences(value)
        if left == value:
            return literal
        return re.sub("[%<[]", lambda odd: f"\\u{ord(odd[0]):04x}", json.dumps(left, ensure_ascii=False))

    def _sentences(self, text: str) -> str:
        if not self.is_forgotten(text):
            return text
        return "\n".join(self._marked(row) for row in text.split("\n"))

    def _marked(self, row: str) -> str:
        """The row with the mark in place of each sentence that says a statement, or of all of it."""
        prefix = (_PREFIX.match(row) or [""])[0]
        rest = row[len(prefix) :]
        left = without_sentences(rest, self.is_forgotten, self.mark)
        return prefix + (self.mark if left == rest and self.is_forgotten(rest) else left)

    def _near(self, text: str) -> list[ForgottenStatement]:
        folded_text = text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
        return [each for each in self.statements if each.is_near(folded_text)]


def forgotten_statements(texts: Iterable[str], fingerprints: Iterable[str], mark: str) -> ForgottenStatements:
    """The matcher of the sentences of these texts, and of whatever has one of these fingerprints."""
    return ForgottenStatements(frozenset(fingerprints), tuple(_statements(texts)), mark=mark)


def phrase(text: str, mark: str = MARK) -> ForgottenStatements:
    """The matcher of a text that a person typed, of any length, with the fingerprints of its sentences."""
    made = (_statement(each) for each in (without_lead(text).strip(), *fields_stated(text)))
    return ForgottenStatements(marks(text), tuple(filter(None, made)), mark=mark)


def _statements(texts: Iterable[str]) -> Iterator[ForgottenStatement]:
    """The sentences of the texts that say enough to be known again, each once, and as the profile has them."""
    plain = [without_lead(each).strip() for text in texts for each in SENTENCE.findall(text)]
    fields = (field for each in plain for field in fields_stated(each))
    sentences = dict.fromkeys(each for each in (*plain, *fields) if says_something(each))
    yield from filter(None, map(_statement, islice(sentences, _MOST_STATEMENTS)))


def _statement(text: str) -> ForgottenStatement | None:
    tokens = _tokens(text)[:_LONGEST]
    if not tokens:
        return None
    parts = wording(text)
    words = (parts.words | parts.numbers) - PRONOUNS
    return ForgottenStatement(
        tuple(tokens),
        _spelled(_TOKEN.findall(text)[:_LONGEST]),
        max(tokens, key=len),
        _needles(parts.words - PRONOUNS) or (tokens[0],),
        words if len(words) >= _FEWEST else frozenset(),
        parts.negated,
        frozenset(filter(_CODE.fullmatch, parts.numbers)),
    )


def _spelled(tokens: list[str]) -> re.Pattern[str]:
    gaps = (
        r"\W{1,6}" if re.match(_JOINED, one) and re.match(_JOINED, other) else r"\W{0,6}"
        for one, other in pairwise(tokens)
    )
    words = "".join(chain.from_iterable(zip_longest(map(re.escape, tokens), gaps, fillvalue="")))
    before = f"(?<!{_JOINED})" if re.match(_JOINED, tokens[0]) else ""
    after = f"(?!{_JOINED})" if re.search(rf"{_JOINED}\Z", tokens[-1]) else ""
    return re.compile(before + words + after, re.IGNORECASE)


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold())


def _in_link(found: re.Match[str]) -> bool:
    """True if the words are in the name of a note that a link leads to."""
    row = found.string[found.string.rfind("\n", 0, found.start()) + 1 : found.start()]
    return row.rfind("[[") > row.rfind("]]") and "|" not in row[row.rfind("[[") :]


def _needles(words: frozenset[str]) -> tuple[str, ...]:
    """The beginnings of the longest words: the forms of a word differ at its end."""
    longest = sorted(words, key=lambda word: (-len(word.encode()), word))[:_NEEDLES]
    return tuple(dict.fromkeys(word[:_NEEDLE] if word.isascii() else word[0] for word in longest))


def with_name(row: str, name: str, new: str) -> str:
    """The row with the new name of a note; a longer name that begins with the old one stays. A name that no day begins
    may be a common word, and is meant in links and paths only."""
    if _OWN_NAME.match(name):
        return re.sub(rf"{re.escape(name)}(?! ?[^\W_])", lambda _: new, row)
    word = re.escape(name)
    linked = rf"(?:\A|(?<=\[\[)|(?<=/)){word}(?=\Z|\]\]|[|#])|(?<![\w-]){word}(?=\.md(?!\w))"
    return re.sub(linked, lambda _: new, row)


def has_name(row: str, name: str) -> bool:
    """True if the row names the note of this name."""
    return name in row and with_name(row, name, "") != row


def new_name(name: str, words: str, id: str) -> str:
    """The name of a note that is named after other words; its day stays, and its id keeps it apart from others."""
    if day := re.match(r"\d{4}-\d\d-\d\d ", name):
        return " ".join(filter(None, (f"{day[0]}{short_title(words)}", id[-6:].lower())))
    day, end = re.match(r"\d{4}-\d\d-\d\d-", name), re.search(r"-[0-9a-z]{6}$", name)
    return f"{day[0] if day else ''}{slug(words)}{end[0] if end else ''}"


def is_telling(name: str) -> bool:
    """True if the name of a note says something by itself, as a heading does: a person gave it, in several words. One
    word may be common, and is meant in links and paths only; so is a number or a day."""
    return len(wording(name).words) >= _FEWEST_OF_NAME and not _OWN_NAME.match(name)


def own_names(names: Mapping[str, str]) -> dict[str, str]:
    """Those of these names that begin with a day, as those that the program makes do; others may be common words."""
    return {name: new for name, new in names.items() if _OWN_NAME.match(name)}
