"""The lessons in one edit of the agent's text about its person: style, corrections and preferences. Pure text.

*Style*: the same facts in another form. *Correction*: another value (a number, a name, a date) in a line that is
otherwise much the same. *Preference*: a line or section taken out, or a wish written in. What is none of these (a typo,
a fact added) teaches nothing.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.markdown.preferences import preferences
from agent.memory.blame import AuthoredLine
from agent.memory.edits.form import canonical, changed_form, dates_in, is_shorter

LessonKind: TypeAlias = Literal["style", "correction", "preference"]

_LIKE = 0.6
"""The share of equal words from which two lines are one line with another value."""
_VALUE_WORDS, _VALUE_CHANGES = 6, 2
"""The most words of a value, and the most values that change in one line."""
_BESIDE = 2
"""Words beside a number that are quoted with it."""
_FEW = 3
"""The most lines taken out of which each counts for itself; more make the text shorter."""
_QUOTED = 60
_DATE = re.compile(r"\d\dm\d\dd")
_TOKEN = re.compile(r"\d\dm\d\dd|[\u3400-\u9fff]|\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’-][^\W\d_]+)*|[^\s\w]|_")
_HAN = re.compile(r"[\u3400-\u9fff]+")
_DIGIT = re.compile(r"\d")
_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*\s*$")
_LABEL = re.compile(r"\s*(?:[-*+]\s+)?(?:\[[ xX]\]\s+)?\*{0,2}([^:：*\[\]]{2,40})\*{0,2}[:：]")
_MARKS = re.compile(r"^(?:[\s>*+-]|\[[ xX]\]|\d{1,3}[.)](?=\s))+")


@dataclass(frozen=True, slots=True)
class EditLesson:
    """One thing that an edit says: for a style the measure and its value; for a correction the wrong and the right
    value; for a preference `without` or `with` and the words that it is about. `before` and `after` are the evidence.
    """

    kind: LessonKind
    topic: str
    value: str
    before: str = ""
    after: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """The key that two lessons share of which one speaks against the other."""
        if self.kind == "correction":
            return self.kind, " | ".join(sorted((self.topic, self.value)))
        return self.kind, self.topic.casefold()


@dataclass(frozen=True, slots=True)
class _Hunk:
    old: tuple[AuthoredLine, ...]
    new: tuple[str, ...]

    @property
    def own(self) -> list[str]:
        """The agent's lines in it that say something."""
        return [line.text for line in self.old if line.own and line.text.strip()]


def lessons_in(before: Sequence[AuthoredLine], after: Sequence[str]) -> tuple[EditLesson, ...]:
    """The lessons in the edit of a note, each once; `before` has the note's lines with what the agent wrote of late
    as its own."""
    hunks = tuple(_hunks(before, after))
    touched = [each for each in hunks if each.own]
    there = {line.strip() for line in after} - {""}
    replaced = [each for each in touched if any(map(str.strip, each.new))]
    if not replaced and not any(line.own and line.text.strip() in there for line in before):
        return ()  # there was nothing of the agent's, or nothing is left: a note that was tidied up says nothing
    moved_out = [line for each in touched for line in each.own if line.strip() not in there]
    found = [*_styles(replaced), *_headings(hunks), *_corrections(replaced), *_wishes(hunks)]
    if not any(each.topic == "length" for each in found):
        found += _cut_down(before, hunks)
    is_cut = any((each.topic, each.value) == ("length", "shorter") for each in found)
    found += _left_out([each for each in touched if not any(row.strip() for row in each.new)], moved_out, is_cut=is_cut)
    return tuple({(each.key, each.value): each for each in found}.values())


def _hunks(before: Sequence[AuthoredLine], after: Sequence[str]) -> Iterator[_Hunk]:
    """The places where the note was changed; an empty line between two of them does not part them."""
    old, new = [line.text.rstrip() for line in before], [line.rstrip() for line in after]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    pending: list[tuple[int, int, int, int]] = []
    for tag, first, last, begin, end in matcher.get_opcodes():
        if tag == "equal":
            if pending and not any(old[first:last]) and last < len(old):
                continue
            yield from _joined(pending, before, new)
            pending = []
        else:
            pending.append((first, last, begin, end))
    yield from _joined(pending, before, new)


def _joined(
    parts: Sequence[tuple[int, int, int, int]], before: Sequence[AuthoredLine], new: Sequence[str]
) -> Iterator[_Hunk]:
    if parts:
        old = tuple(line for first, last, _, _ in parts for line in before[first:last])
        yield _Hunk(old, tuple(line for _, _, begin, end in parts for line in new[begin:end]))


def _styles(replaced: Sequence[_Hunk]) -> Iterator[EditLesson]:
    """How the form of the agent's text was changed where other text stands in its place now."""
    for each in replaced:
        old, new = "\n".join(each.own), "\n".join(each.new)
        for measure, value in changed_form(old, new):
            yield EditLesson("style", measure, value, old, new)


def _headings(hunks: Sequence[_Hunk]) -> Iterator[EditLesson]:
    """Headings alone that were taken out, or put in, while the text below them stayed."""
    for each in hunks:
        old, new = each.own, [row for row in each.new if row.strip()]
        for rows, others, value in ((old, new, "fewer"), (new, old, "more")):
            if rows and not others and all(map(_HEADING.match, rows)):
                yield EditLesson("style", "headings", value, "\n".join(old), "\n".join(new))


def _cut_down(before: Sequence[AuthoredLine], hunks: Sequence[_Hunk]) -> Iterator[EditLesson]:
    """Shorter, if the agent's text as a whole lost much by lines that were taken out."""
    whole = [line.text for line in before if line.own and line.text.strip()]
    gone = [line for each in hunks for line in each.own if line]
    left = [line for line in whole if line not in gone] + [row for each in hunks if each.own for row in each.new]
    if len(gone) > _FEW and is_shorter("\n".join(whole), "\n".join(left)):
        yield EditLesson("style", "length", "shorter", "\n".join(whole), "\n".join(left))


def _corrections(replaced: Sequence[_Hunk]) -> Iterator[EditLesson]:
    for each in replaced:
        rows = [row for row in each.new if row.strip()]
        for line in each.own:
            likest = max(rows, key=lambda row: _likeness(line, row), default="")
            if likest and line.strip() not in each.new and _likeness(line, likest) >= _LIKE:
                yield from _values(line, likest)


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, _tokens(canonical(one)), _tokens(canonical(other)), autojunk=False).ratio()


def _values(line: str, row: str) -> Iterator[EditLesson]:
    """The values that another one took the place of in a line."""
    old, new = _tokens(canonical(line)), _tokens(canonical(row))
    opcodes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    changed = [(old[a:b], new[c:d], a, b, c, d) for tag, a, b, c, d in opcodes if tag != "equal"]
    if not 0 < len(changed) <= _VALUE_CHANGES:
        return
    for gone, come, a, b, c, d in changed:
        if not gone or not come or max(len(gone), len(come)) > _VALUE_WORDS:
            continue
        is_number = any(map(_DIGIT.search, gone)) and any(map(_DIGIT.search, come))
        is_name = (_is_name(gone) and a > 0 and _is_name(come)) or (_is_han(gone) and _is_han(come))
        if is_number:
            yield EditLesson("correction", _near(line, old, a, b), _near(row, new, c, d), line, row)
        elif is_name:
            yield EditLesson("correction", _format_words(gone), _format_words(come), line, row)


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def _is_name(words: Sequence[str]) -> bool:
    return all(word[:1].isupper() for word in words)


def _is_han(words: Sequence[str]) -> bool:
    return len(words) > 1 and all(map(_HAN.fullmatch, words))


def _near(line: str, words: Sequence[str], first: int, last: int) -> str:
    """A date as it stands in the line; another number with the words beside it."""
    changed = words[first:last]
    if any(map(_DATE.fullmatch, changed)):
        seen = (each for each in dates_in(line) if f"{each.key[0]:02}m{each.key[1]:02}d" in changed)
        return ", ".join(line[each.start : each.end] for each in seen)
    return _format_words(
        [word for word in words[max(first - _BESIDE, 0) : last + _BESIDE] if not _DATE.fullmatch(word)]
    )


def _format_words(words: Sequence[str]) -> str:
    """The words as a text: no blanks around signs and between Chinese characters."""
    text = ""
    for word in words:
        is_close = not text or not word[0].isalnum() or _HAN.fullmatch(word) or _HAN.fullmatch(text[-1])
        text += word if is_close else f" {word}"
    return text


def _left_out(gone: Sequence[_Hunk], moved_out: Sequence[str], *, is_cut: bool) -> Iterator[EditLesson]:
    """The removed parts: a section by its heading, else single lines, if they are few; none if the text as a whole was
    cut down."""
    whole = [each for each in gone if not all(map(_HEADING.match, each.own))]
    lines = [line for each in whole for line in each.own if line in moved_out]
    headings = [match[2] for line in lines if (match := _HEADING.match(line))]
    if is_cut:
        return
    for title in headings:
        yield EditLesson("preference", _words(title), "without", title)
    if not headings and len(lines) <= _FEW:
        for line in lines:
            label = _LABEL.match(line)
            if words := _words(label[1] if label else line):
                yield EditLesson("preference", words, "without", line)


def _wishes(hunks: Sequence[_Hunk]) -> Iterator[EditLesson]:
    """The wishes that the person has written into the note."""
    for each in hunks:
        known = {sentence.casefold() for line in each.old for sentence in preferences(line.text)}
        for sentence in preferences("\n".join(each.new)):
            if sentence.casefold() not in known:
                yield EditLesson("preference", _words(sentence, 160), "with", "", sentence)


def _words(text: str, most: int = _QUOTED) -> str:
    """The words of a line that it is known by, without the marks of a list."""
    plain = " ".join(_MARKS.sub("", text).replace("*", "").replace("`", "'").split()).strip(" .。:：;；,，")
    return plain if len(plain) <= most else plain[: most - 1].rstrip() + "…"
