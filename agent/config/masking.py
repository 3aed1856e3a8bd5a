"""Masking: find known secret values in a text, in several encodings, and replace them.

A value is found in any letter case, with punctuation, spaces or line breaks between its letters, percent-encoded,
JSON-escaped, as HTML, in hexadecimal, and in base64 (both alphabets, also inside a longer encoded text).
Not found: a part of a value, a value that is reversed, compressed, encrypted or encoded twice, and base64 of UTF-16.
A value with fewer than 12 letters and digits is found in any letter case, but not with other characters between its
letters: a short number would match in many lists of numbers.
"""

import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from agent.dataclass import dataclass

HIDDEN = "***"
"""The replacement for a value in logs, in prompts and on the screen."""

HIDDEN_IN_NOTES = "[secret]"
"""The same in notes, in commits and in the arguments of a model's tool calls; `***` is a rule in Markdown."""

SHORTEST = 8
"""Characters. Shorter values are words such as `none`, which some local servers want; masking would garble text."""

_LOOSE = 12
"""The minimum number of letters and digits for a match with other characters between them."""
_ROUNDS = 4
_PUNCTUATION = bytes(code for code in range(128) if not chr(code).isalnum())
_LINE_BREAK = re.compile(r"\\[nrt]")
_ASCII_GAP = re.compile(r"[^a-z0-9]+")
_OTHER_GAP = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class _Forms:
    """Forms of secrets: `exact` ones match in any letter case, `loose` ones match the letters and digits only."""

    exact: tuple[str, ...]
    loose: tuple[str, ...]

    @property
    def groups(self) -> Iterator[tuple[bool, tuple[str, ...]]]:
        """The loose forms in two groups: ASCII (True) and others (False)."""
        for ascii_only in (True, False):
            some = tuple(form for form in self.loose if form.isascii() == ascii_only)
            if some:
                yield ascii_only, some


def redact(text: str, secrets: Iterable[str], hidden: str = HIDDEN) -> str:
    """`text` with `hidden` in place of every secret value, in any form that is found."""
    forms = _forms(frozenset(secrets))
    for _ in range(_ROUNDS):  # the text on both sides of a removed value may form another one
        spans = _found(text, forms)
        if not spans:
            break
        text = _replaced(text, spans, hidden)
    return text


def count_secrets(text: str, secrets: Iterable[str]) -> int:
    """The number of secret values in a text, in any form that is found."""
    return len(_found(text, _forms(frozenset(secrets))))


def unfinished_secret(text: str, secrets: Iterable[str]) -> str:
    """The longest end of a text that may be the beginning of a secret value, in any form; empty for none."""
    forms = _forms(frozenset(secrets))
    lowered = text.lower()
    start = len(text)
    for form in map(str.lower, forms.exact):
        sizes = range(min(len(form) - 1, len(lowered)), 0, -1)
        start = min(start, next((len(text) - size for size in sizes if lowered.endswith(form[:size])), start))
    for ascii_only, loose in forms.groups:
        folded, places = _fold_with_places(text, ascii_only=ascii_only)
        for form in loose:
            sizes = range(min(len(form) - 1, len(folded)), 0, -1)
            start = min(start, next((places[-size] for size in sizes if folded.endswith(form[:size])), start))
    return text[start:]


@lru_cache(maxsize=64)
def _forms(secrets: frozenset[str]) -> _Forms:
    exact: set[str] = set()
    loose: set[str] = set()
    for secret in filter(None, secrets):
        exact.add(secret)
        for spelling in _spellings(secret):
            folded = _fold(spelling, ascii_only=spelling.isascii())
            if len(folded) >= _LOOSE:
                loose.add(folded)
            else:
                exact.add(spelling)
    return _Forms(tuple(sorted(exact)), tuple(sorted(loose)))


def _spellings(secret: str) -> Iterator[str]:
    import base64  # together 5 ms to import, which `--help` saves
    import html
    from urllib.parse import quote, quote_plus

    yield from (secret, quote(secret, safe="", errors="replace"), quote(secret, errors="replace"))
    if len(secret) < SHORTEST:
        return
    yield quote_plus(secret, errors="replace")
    yield html.escape(secret)
    for ascii_only in (True, False):
        yield json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
    data = secret.encode("utf-8", "replace")
    yield data.hex()
    for before in range(3):  # the value's offset within a group of three bytes
        encoded = base64.b64encode(bytes(before) + data).decode()
        whole = (before + len(data)) * 8 // 6
        yield encoded[(before * 8 + 5) // 6 : whole]  # without the characters that depend on neighbouring bytes


def _fold(text: str, *, ascii_only: bool) -> str:
    """The letters and digits of a text in lower case; only ASCII ones (faster), or all."""
    lowered = text.lower()
    if "\\" in lowered:
        lowered = _LINE_BREAK.sub("", lowered)
    if ascii_only:
        return lowered.encode("ascii", "ignore").translate(None, _PUNCTUATION).decode()
    return _OTHER_GAP.sub("", lowered)


def _fold_with_places(text: str, *, ascii_only: bool) -> tuple[str, list[int]]:
    """The same, with the offset of each character in the text."""
    lowered, origins = text.lower(), list(range(len(text)))
    if len(lowered) != len(text):  # a letter became two in lower case
        lowered = "".join(letter.lower() for letter in text)
        origins = [place for place, letter in enumerate(text) for _ in letter.lower()]
    unbroken_parts, places, last = list[str](), list[int](), 0
    gap = _ASCII_GAP if ascii_only else _OTHER_GAP
    unbroken = _LINE_BREAK.sub(lambda found: " " * len(found[0]), lowered)
    for found in (*gap.finditer(unbroken), None):
        end = found.start() if found else len(unbroken)
        unbroken_parts.append(unbroken[last:end])
        places += origins[last:end]
        last = found.end() if found else end
    return "".join(unbroken_parts), places


def _found(text: str, forms: _Forms) -> list[tuple[int, int]]:
    """The spans of the secrets, in order, without overlaps."""
    spans: list[tuple[int, int]] = []
    lowered = text.lower()
    exact = [form for form in forms.exact if form.lower() in lowered]
    if exact:
        longest_first = sorted(exact, key=lambda form: (-len(form), form))
        pattern = re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE)
        spans += [found.span() for found in pattern.finditer(text)]
    for ascii_only, loose in forms.groups:
        folded = _fold(text, ascii_only=ascii_only)
        there = [form for form in loose if form in folded]
        if there:
            spans += _loose_spans(there, *_fold_with_places(text, ascii_only=ascii_only))
    return _merged(spans)


def _loose_spans(loose: Iterable[str], folded: str, places: list[int]) -> Iterator[tuple[int, int]]:
    for form in loose:
        at = folded.find(form)
        while at >= 0:
            yield places[at], places[at + len(form) - 1] + 1
            at = folded.find(form, at + len(form))


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _replaced(text: str, spans: list[tuple[int, int]], hidden: str) -> str:
    parts: list[str] = []
    last = 0
    for start, end in spans:
        parts += [text[last:start], hidden]
        last = end
    return "".join([*parts, text[last:]])


class KnownSecrets:
    """The secret values known to this process, and their masking; more can be added at any time.

    Values with fewer than 8 characters are left out.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values: frozenset[str] = frozenset()
        self.learn(values)

    @property
    def values(self) -> tuple[str, ...]:
        """The values, sorted."""
        return tuple(sorted(self._values))

    def learn(self, values: Iterable[str]) -> None:
        """Add values to mask from now on."""
        self._values |= {value for value in values if len(value) >= SHORTEST}

    def mask(self, text: str, hidden: str = HIDDEN) -> str:
        """As `redact`, with the known values."""
        return redact(text, self._values, hidden) if self._values else text

    def count(self, text: str) -> int:
        """As `count_secrets`, with the known values."""
        return count_secrets(text, self._values) if self._values else 0


_PRINTED = KnownSecrets()


def keep_out_of_print(values: Iterable[str]) -> None:
    """Mask these values, and no others, in everything that this process prints from now on."""
    global _PRINTED
    _PRINTED = KnownSecrets(values)


def printable(text: str) -> str:
    """`text` with the secrets given to `keep_out_of_print` masked."""
    return _PRINTED.mask(text)


def printable_bytes(data: bytes) -> bytes:
    """The same for the bytes of a text; bytes that are not UTF-8 are unchanged."""
    text = data.decode("utf-8", "surrogateescape")
    masked = printable(text)
    return data if masked == text else masked.encode("utf-8", "surrogateescape")
