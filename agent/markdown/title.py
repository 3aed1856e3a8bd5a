"""A short title from the first words of a text, which can be a file's name on every file system."""

import re
import unicodedata

_COLUMNS = 48
"""The width of a title."""
_FEWEST = 12
"""The columns from which the title ends with the sentence."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SENTENCE = re.compile(r"[^.!?。！？\n]+(?:[.!?](?!\s)[^.!?。！？\n]+)*")


def short_title(text: str) -> str:
    """The words of the first sentences, with a capital letter; none is cut, unless the first alone is too long.

    Only letters, digits and apostrophes; empty for a text without any.
    """
    return _title(text)[0]


def short_heading(text: str) -> str:
    """The short title, with `…` if words of its sentence are left out."""
    title, is_cut = _title(text)
    return f"{title}…" if is_cut else title


def _title(text: str) -> tuple[str, bool]:
    """The title, and true if words of its last sentence are left out."""
    first_line = unicodedata.normalize("NFC", text).strip().partition("\n")[0]
    title = ""
    for sentence in _SENTENCE.findall(first_line):
        for word in _WORD.findall(sentence):
            longer = f"{title} {word}" if title else word
            if columns(longer) > _COLUMNS:
                return _capital(title or _cut(word)), True
            title = longer
        if columns(title) >= _FEWEST:
            break
    return _capital(title), False


def _capital(title: str) -> str:
    return title[:1].upper() + title[1:]


def _cut(word: str) -> str:
    """As much of a word as fits."""
    while columns(word) > _COLUMNS:
        word = word[:-1]
    return word


def columns(text: str) -> int:
    """The width of a text on a terminal: a Chinese character takes two columns."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def clipped(text: str, most: int) -> str:
    """The text, or its first characters with `…`: at most so many in all, wherever that cuts it."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def clipped_between_links(text: str, most: int) -> str:
    """The same, but never cut inside of a link, which would then lead nowhere; the link is left out with the rest."""
    found = clipped(text, most)
    begun = found.rfind("[[") if not found.endswith("[…") else len(found.rstrip("[…"))
    is_cut = found != text and begun > found.rfind("]]")
    return f"{found[:begun].rstrip(' ,，、(（')} …" if is_cut and begun > 0 else found


def shortened(text: str, most: int) -> str:
    """The text in at most so many columns: cut after a word, with `…`; a long last word is cut itself."""
    start = text[: most + 1]
    if start == text and columns(text) <= most:
        return text
    while columns(start) > most - 1:
        start = start[:-1]
    space = max(text.rfind(" ", 0, len(start) + 1), 0)
    return text[: space if columns(text[:space]) > most // 2 else len(start)].rstrip(" ,;:.") + "…"
