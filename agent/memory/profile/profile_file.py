"""One note of a profile as a value: its header, its fields, and what it says. Pure text.

People change these notes as they like, so nothing is required: a missing or odd header is read as empty, a field is any
list item with a label, and all other text counts as said.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from agent.dataclass import dataclass
from agent.markdown.blocks import parse_body
from agent.markdown.note import Note
from agent.memory.profile.catalog import layer_of
from agent.memory.profile.evidence import Evidence, parse_evidence

KEEP = re.compile(r"%%\s*keep\s*%%", re.IGNORECASE)
"""The mark with which a person keeps the program away from a line, or from the section of a heading."""
_ITEM = re.compile(r"^(?P<lead>\s{0,6}[-*+]\s+)(?P<words>\S.*?)\s*$")
_BOLD_FIELD = re.compile(
    r"^(?P<lead>\s{0,6}[-*+]\s+)(?:\*\*|__)(?P<label>[^\n*\[\]]{1,60}?)(?:\s*[:：]\s*(?:\*\*|__)|(?:\*\*|__)\s*[:：])"
    r"(?P<value>.*)$"
)
_PLAIN_FIELD = re.compile(
    r"^(?P<lead>\s{0,6}[-*+]\s+)(?P<label>[^\n:：*\[\]“”\"]{1,60}?)\s*(?!(?<=\d)[:：]\d)[:：](?P<value>.*)$"
)
"""The colon of a time such as 7:30 ends no label."""
_EMPTY = re.compile(
    r"^\s*[\[（(【]\s*(?:to be (?:filled|completed|added)|not (?:filled|known) yet|待填充|待填写|待补充|待完善)"
    r"[^\n]*[\]）)】]\s*$",
    re.IGNORECASE,
)
_BLOCK = re.compile(r"(?:\s*\[\[[^\]\n]*\]\])*\s+\^(?P<kind>pattern|belief)-[0-9a-f]{8}\s*$")
"""The end of the first line of a block: what repeats, as `growth.patterns.pattern_notes` writes it, or what is believed
(`belief_line`)."""
_BELOW = {"pattern": re.compile(r"^\s+[-*+]\s+\[.\]\s"), "belief": re.compile(r"^\s+[-*+]\s")}
"""The lines below it, which say nothing by themselves: boxes, and evidence."""
_COMMENT = re.compile(r"%%.*?%%")
_LINKS = re.compile(r"\s*\((?:\s*\[\[[^\]\n]*\]\],?\s*)+\)\s*$")


@dataclass(frozen=True, slots=True)
class Field:
    """A labelled value, `- **Name**: Ida`; `value` is empty while nobody has filled it. `line` counts from 1 in the
    file."""

    label: str
    value: str
    line: int


@dataclass(frozen=True, slots=True)
class Statement:
    """A line that says something and is no field, without its bullet and its evidence."""

    text: str
    section: str
    line: int


@dataclass(frozen=True, slots=True)
class ProfileFile:
    """A note of a profile. `name` is its path in `profile/`, `path` that in the vault, `text` the note without its
    header. `confidence` is from 0 to 1: what the header says, and for a note that the person alone has filled, 1."""

    path: str
    name: str
    layer: int
    title: str
    keywords: tuple[str, ...]
    summary: str
    confidence: float
    evidence: tuple[Evidence, ...]
    fields: tuple[Field, ...]
    statements: tuple[Statement, ...]
    text: str

    @property
    def filled(self) -> int:
        """How much it says: the fields with a value, and all other statements."""
        return sum(bool(each.value) for each in self.fields) + len(self.statements)

    @property
    def empty_fields(self) -> int:
        """The fields that nobody has filled."""
        return sum(not each.value for each in self.fields)

    @property
    def said(self) -> tuple[str, ...]:
        """What it says, one text for each field and statement, in the order of the note."""
        fields = [(each.line, f"{each.label}: {each.value}") for each in self.fields if each.value]
        rows = sorted([*fields, *((each.line, each.text) for each in self.statements)])
        return tuple(text for _, text in rows)


def parse_profile(path: str, name: str, data: bytes) -> ProfileFile:
    """The note with these bytes; never raises."""
    note = Note.parse(data)
    fields, statements = list[Field](), list[Statement]()
    for each in _lines(note):
        if isinstance(each, Field):
            fields.append(each)
        else:
            statements.append(each)
    items = note.header.get("evidence")
    found = (parse_evidence(item) for item in (items if isinstance(items, list | tuple) else [items]))
    evidence = tuple(each for each in found if each is not None)
    layer = note.header.get("layer")
    is_filled = bool(statements) or any(each.value for each in fields)
    return ProfileFile(
        path,
        name,
        layer if isinstance(layer, int) and not isinstance(layer, bool) and 0 <= layer <= 6 else layer_of(name),
        note.string("title") or _heading(note) or PurePosixPath(name).stem,
        note.strings("keywords"),
        note.string("summary") or "",
        _confidence(note, is_filled=is_filled, evidence=len(evidence)),
        evidence,
        tuple(fields),
        tuple(statements),
        note.body.strip("\r\n"),
    )


def field_in(line: str) -> tuple[str, str, str] | None:
    """The beginning of a line up to the value, the label, and the value (empty if nobody has filled it); None for a
    line that is no field."""
    plain = KEEP.sub("", line)
    found = _BOLD_FIELD.match(plain) or _PLAIN_FIELD.match(plain)
    if found is None or found["label"].casefold().startswith(("http", "[")):
        return None
    value = found["value"].strip()
    begin = plain[: found.start("value")]
    return begin, found["label"].strip(), "" if _EMPTY.match(value) else value


def said_in(line: str) -> str:
    """What a line says, without its bullet, its evidence and comments; empty for one that says nothing."""
    plain = _COMMENT.sub("", line)
    found = _ITEM.match(plain)
    words = found["words"] if found else plain.strip()
    return "" if _EMPTY.match(words) else _LINKS.sub("", words).strip()


def confidence_after(count: int) -> float:
    """The confidence of a note with so many pieces of evidence: .7 for one, up to .95."""
    return min(round(0.65 + 0.05 * count, 2), 0.95) if count else 0.0


def _lines(note: Note) -> Iterator[Field | Statement]:
    body = parse_body(note.body, note.body_line)
    headings = {each.line: each.text for each in body.headings}
    section, block = "", ""
    for at, (line, kind) in enumerate(zip(body.lines, body.kinds, strict=True), body.first):
        section = KEEP.sub("", headings.get(at, section)).strip()
        if at in headings or kind in {"blank", "comment", "fence"}:
            continue
        if block and _BELOW[block].match(line):
            continue
        found = _BLOCK.search(line)
        block = found["kind"] if found else ""
        field = None if block else field_in(line)
        if field is not None and (not field[2] or not field[2].startswith("//")):
            yield Field(field[1], _LINKS.sub("", field[2]).strip() or field[2], at)
        elif text := said_in(_BLOCK.sub("", line)):
            yield Statement(text, section, at)


def _heading(note: Note) -> str:
    headings = parse_body(note.body).headings
    return headings[0].text if headings else ""


def _confidence(note: Note, *, is_filled: bool, evidence: int) -> float:
    """The header's figure, from 0 to 1; where it has none, by the evidence, and 1 for what the person alone wrote."""
    value = note.header.get("confidence")
    if isinstance(value, str):
        figure = value.strip().rstrip("%").replace(",", ".")
        try:
            value = float(figure) / (100 if value.strip().endswith("%") else 1)
        except ValueError:
            value = None
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1:
        return float(value)
    if not is_filled:
        return 0.0
    return confidence_after(evidence) or 1.0
