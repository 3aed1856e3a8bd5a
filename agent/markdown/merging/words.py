"""Three-way merges inside one block: by word for prose, by line for code, quotes and comments.

A merge is refused (None) when both sides changed the same place; two changes with an unchanged word, or Chinese
character, between them are both kept, and so are whole lines of prose that both sides added at one place.

The merge of bodies by line: for changes that are far from each other, and to cut long bodies into parts.
"""

import re
from collections.abc import Iterator, Sequence

from agent.dataclass import dataclass
from agent.markdown.merging.sequences import chunks, common

_WIDE = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_WORD = re.compile(
    rf"(\[\[[^\[\]\n]*\]\]|`[^`\n]+`|https?://[^\s<>]+|[{_WIDE}]|[^\W{_WIDE}](?:[^\s{_WIDE}`\[]*[^\W{_WIDE}])?|\S)(\s*)"
)
"""A link, code, an address, a Chinese character, a word with the marks inside it (`10.5`, `don't`), or another mark."""
_IS_WIDE = re.compile(rf"[{_WIDE}]")


@dataclass(frozen=True, slots=True)
class _Word:
    """A word, and the space below it (None: not known). `at_end` is the space if it is the last word of its side."""

    text: str
    space: str | None
    at_end: str | None


_NOWHERE = _Word("", None, None)


def words(text: str) -> list[str]:
    """The words of a text: links and code spans whole, each Chinese character by itself."""
    return [found[1] for found in _WORD.finditer(text)]


def merge_words(base: str, first: str, second: str) -> str | None:
    """The text with both sides' changed words and added lines; None if both changed the same place."""
    merged = _merge_prose(base, first, second)
    if merged is None:
        return None
    again = (_merge_prose(base, merged, second), _merge_prose(base, first, merged))
    return merged if again == (merged, merged) else None


def merge_lines(base: Sequence[str], first: Sequence[str], second: Sequence[str]) -> list[str] | None:
    """The lines with both sides' changes; None if both changed the same place."""
    merged = _merge_lines(base, first, second)
    if merged is None:
        return None
    again = (_merge_lines(base, merged, second), _merge_lines(base, first, merged))
    return merged if again == (merged, merged) else None


def pick(base: object, first: object, second: object) -> int:
    """The side that changed: 1 or 2; 0 if both did and differ."""
    if first == second or second == base:
        return 1
    return 2 if first == base else 0


def _merge_prose(base: str, first: str, second: str) -> str | None:
    merged = _merge_words(base, first, second)
    return _merge_added_lines(base, first, second) if merged is None else merged


def _merge_added_lines(base: str, first: str, second: str) -> str | None:
    """The text with all lines that the sides added, those at one place in the order of their letters; None if both
    changed a line."""
    lines = [text.split("\n") for text in (base, first, second)]
    merged: list[str] = []
    for chunk in chunks(*lines):
        old, one, other = (side[part] for side, part in zip(lines, chunk[:3], strict=True))
        side = pick(old, one, other)
        if not side and old:
            return None
        merged += (one, other)[side - 1] if side else _both(one, other)
    return "\n".join(merged)


def _both(first: list[str], second: list[str]) -> list[str]:
    """The lines of both; once, if one has all lines of the other."""
    short, long = sorted((first, second), key=lambda lines: (len(lines), lines))
    if len(common(short, long)) == len(short):
        return long
    return [*min(first, second), *max(first, second)]


def _merge_words(base: str, first: str, second: str) -> str | None:
    lead = [text[: len(text) - len(text.lstrip())] for text in (base, first, second)]
    b, f, s = _split(base), _split(first), _split(second)
    texts = [[word.text for word in side] for side in (b, f, s)]
    merged: list[_Word] = []
    for chunk in chunks(*texts):
        if chunk.is_stable:
            merged.append(_stable(b[chunk.base.start], f[chunk.first.start], s[chunk.second.start]))
            continue
        side = pick(texts[0][chunk.base], texts[1][chunk.first], texts[2][chunk.second])
        if not side:
            return None
        if texts[1][chunk.first] == texts[2][chunk.second]:
            both = zip(f[chunk.first], s[chunk.second], strict=True)
            merged += [_stable(_NOWHERE, one, other) for one, other in both]
        else:
            merged += f[chunk.first] if side == 1 else s[chunk.second]
    side = pick(*lead)
    return (lead[side] if side else max(lead[1:])) + _joined(merged)


def _merge_lines(base: Sequence[str], first: Sequence[str], second: Sequence[str]) -> list[str] | None:
    merged: list[str] = []
    for chunk in chunks(base, first, second):
        side = pick(base[chunk.base], first[chunk.first], second[chunk.second])
        if not side:
            return None
        merged += first[chunk.first] if side == 1 else second[chunk.second]
    return merged


def _split(text: str) -> list[_Word]:
    found = [(each[1], each[2]) for each in _WORD.finditer(text)]
    last = len(found) - 1
    return [_Word(word, None if at == last else space, space if at == last else None)
            for at, (word, space) in enumerate(found)]  # fmt: skip


def _stable(base: _Word, first: _Word, second: _Word) -> _Word:
    space = _pick_space(base.space, first.space, second.space)
    return _Word(first.text, space, _pick_space(base.at_end, first.at_end, second.at_end))


def _pick_space(base: str | None, first: str | None, second: str | None) -> str | None:
    if first is None or second is None:
        return second if first is None else first
    side = pick(base, first, second)
    return (first, second)[side - 1] if side else max(first, second, key=lambda space: (space.count("\n"), space))


def _joined(merged: list[_Word]) -> str:
    pieces: list[str] = []
    for at, word in enumerate(merged):
        pieces.append(word.text)
        if at == len(merged) - 1:
            pieces.append(word.at_end or "")
        elif word.space is not None:
            pieces.append(word.space)
        else:
            wide = _IS_WIDE.match(word.text) or _IS_WIDE.match(merged[at + 1].text)
            pieces.append("" if wide else " ")
    return "".join(pieces)


CONTEXT = 40
"""Lines that stay on each side of a cut, so that a change has its surroundings."""
_COUNTED = re.compile(r"[ \t>]*[0-9]{1,9}[.)][ \t]")


def merge_apart(base: str, first: str, second: str) -> str | None:
    """The body if both sides changed different lines, moved none, and no line stands in it twice; else None.

    This is the quick path: for such changes the merge by unit has the same result, and costs five times as much.
    """
    b, f, s = base.split("\n"), first.split("\n"), second.split("\n")
    places = {line: at for at, line in enumerate(b)}
    if not _is_plain(b, places) or not _is_plain(f, places) or not _is_plain(s, places):
        return None
    merged = merge_lines(b, f, s)
    return "\n".join(merged) if merged is not None and _is_plain(merged, places) else None


def _is_plain(lines: Sequence[str], places: dict[str, int]) -> bool:
    """True if no line but blank ones stands twice, those of the base are in its order, and no new one is numbered."""
    written = [line for line in lines if line and not line.isspace()]
    if len(set(written)) != len(written):
        return False
    at = -1
    for line in written:
        place = places.get(line)
        if place is None:
            if _COUNTED.match(line):
                return False
        elif place < at:
            return False
        else:
            at = place
    return True


def segments(base: str, first: str, second: str) -> Iterator[tuple[str, str, str]]:
    """The three bodies in parts that belong together; each cut is in a long stretch that is the same in all three."""
    b, f, s = (_lines(text) for text in (base, first, second))
    start = (0, 0, 0)
    steady = 0
    for at, to_f, to_s, is_stable in [*((c.base.start, c.first.start, c.second.start, c.is_stable)
                                        for c in chunks(b, f, s)), (len(b), len(f), len(s), False)]:  # fmt: skip
        if is_stable:
            steady += 1
            continue
        if steady > 3 * CONTEXT:
            for back in (steady - CONTEXT, CONTEXT):
                end = (at - back, to_f - back, to_s - back)
                yield _between(b, start[0], end[0]), _between(f, start[1], end[1]), _between(s, start[2], end[2])
                start = end
        steady = 0
    yield _between(b, start[0], len(b)), _between(f, start[1], len(f)), _between(s, start[2], len(s))


def _lines(text: str) -> list[str]:
    """The lines with their line feeds (`splitlines` would split at other characters too)."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines


def _between(lines: Sequence[str], start: int, end: int) -> str:
    return "".join(lines[start:end])
