"""The notes about the person: their names, layers and fields, and one note as a value.

What a profile says on the whole: of each note the first lines.

Finds what a profile says about a query, by the words they share; empty fields are never found.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from agent.dataclass import dataclass
from agent.index.analysis import terms
from agent.markdown.blocks import parse_body
from agent.markdown.note import Note
from agent.memory.profile.evidence import Evidence, parse_evidence
from agent.memory.understanding.seam import FactKind
from agent.vault.folders import PROFILE

CORE = (
    *("00-basic-info", "01-core-identity"),
    *("10-personality", "11-values-beliefs", "12-cognitive-style"),
    *("20-skills-abilities", "21-knowledge-domains", "22-goals-aspirations", "23-interests-hobbies"),
    *("30-daily-patterns", "31-preferences", "32-health-wellness"),
    *("40-relationships", "41-projects-work", "42-social-context"),
    *("50-key-memories", "51-patterns-insights"),
)
"""The seventeen notes that every profile has; the first digit is the layer."""
TOPIC_LAYER = 6
"""The last of the layers: base, inner traits, ability and growth, lifestyle, social, memory and insight, topics."""
TOPICS = "topics/"
CHANGELOG = "_changelog.md"
SENSITIVE_NOTES = frozenset(("32-health-wellness", "40-relationships", "42-social-context"))
SENSITIVE_KINDS = frozenset((FactKind.HEALTH, FactKind.PERSON))
"""The notes and kinds of statements that need the person's consent (`profile.sensitive`)."""
OBSERVED_NOTES = frozenset(("30-daily-patterns", "31-preferences", "51-patterns-insights"))
"""The notes in which a line may rest on what the program has counted itself, without a quotation."""
_NOT_IN_NAMES = frozenset('\\/:*?"<>|#^[]\n\r\t')
_NOT_PROFILE = ("about ", "关于 ")


def note_name(name: str) -> str:
    """The name in `profile/` of the note that a person or a model names, such as `31-preferences.md` or
    `topics/cello.md`; empty for a name that no note of a profile can have."""
    name = name.strip().removeprefix("[[").removesuffix("]]").removesuffix(".md").rpartition(PROFILE)[2]
    folder, _, stem = name.rpartition("/")
    if not folder and stem in CORE:
        return f"{stem}.md"
    is_plain = bool(stem.strip(" .")) and not stem.startswith((".", "_")) and not set(stem) & _NOT_IN_NAMES
    return f"{TOPICS}{stem}.md" if folder == TOPICS.rstrip("/") and is_plain else ""


def is_profile_note(name: str) -> bool:
    """True if the note of this name in `profile/` says something about the person: neither the changelog nor a note
    that explains a folder."""
    stem = PurePosixPath(name).name
    return stem != CHANGELOG and not stem.startswith(".") and not stem.casefold().startswith(_NOT_PROFILE)


def layer_of(name: str) -> int:
    """The layer of a note by its name in `profile/`: the first digit, else that of topics."""
    stem = PurePosixPath(name).name
    digit = stem[:1]
    return int(digit) if "/" not in name and digit in "012345" and stem[1:2].isdigit() else TOPIC_LAYER


def is_core(name: str) -> bool:
    """True for one of the seventeen notes."""
    return name.removesuffix(".md") in CORE


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
    file; 0 for one that only the note's form has."""

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
    def words(self) -> tuple[str, ...]:
        """Its words, one text for each field and statement, in the order of the note."""
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


def words_of_line(line: str) -> str:
    """The words of a line without its bullet, its evidence and comments; empty for one without words."""
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
        elif text := words_of_line(_BLOCK.sub("", line)):
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


_SHOWN = 4
"""The statements that are named of each note."""


def whole_summary(files: Sequence[ProfileFile]) -> str:
    """A summary of the profile: of each filled note the first lines; empty if nothing is filled."""
    rows: list[str] = []
    for each in files:
        if each.filled:
            more = f" (+{len(each.words) - _SHOWN})" if len(each.words) > _SHOWN else ""
            rows.append(f"{each.layer} · {each.title} ({each.confidence:.2g}): {'; '.join(each.words[:_SHOWN])}{more}")
    return "\n".join(rows)


_LINE, _NOTE = 1.0, 0.4
"""The weight of a word in a line, and of one in the note's title, keywords and summary."""


@dataclass(frozen=True, slots=True)
class ProfileHit:
    """A line of a note, or the note as a whole, with its score from 0 to 1."""

    file: ProfileFile
    text: str
    score: float


def search_profile(files: Sequence[ProfileFile], query: str, limit: int) -> tuple[ProfileHit, ...]:
    """The lines that fit best; of a note that fits by its title only, all of its lines, after those."""
    wanted = frozenset(terms(query))
    if not wanted:
        return ()
    hits: list[ProfileHit] = []
    for each in files:
        about = _NOTE * _share(wanted, " ".join((each.title, *each.keywords, each.summary)))
        for text in each.words:
            score = min(_LINE * _share(wanted, text) + about, 1.0)
            if score > 0:
                hits.append(ProfileHit(each, text, round(score, 3)))
    return tuple(sorted(hits, key=lambda hit: -hit.score)[:limit])


def _share(wanted: frozenset[str], text: str) -> float:
    return len(wanted & frozenset(terms(text))) / len(wanted)
