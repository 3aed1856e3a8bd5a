"""The person's statements, ticks and withdrawals, as changes of the notes about them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from agent.config.resources import pattern
from agent.dataclass import dataclass
from agent.markdown.links import linked_names
from agent.markdown.note import Note
from agent.memory.entry import ANSWER, EntryType, without_before, words_of_answer
from agent.memory.profile.changes import ProfileChange, Proposed, Writing, propose_changes
from agent.memory.profile.evidence import Evidence, evidence_of
from agent.memory.profile.note_edit import BlockChange
from agent.memory.profile.profile_file import ProfileFile, is_core
from agent.memory.profile.questions import decided
from agent.memory.store import StoredEntry
from agent.memory.understanding.seam import SourceText
from agent.memory.understanding.statements import facts_in, is_event, is_question
from agent.texts import text
from agent.vault.change import Edit, Request
from agent.vault.store import Vault

_LONGEST_VALUE = 80
_MY = re.compile(
    r"^(?:my|our)\s+(?P<label>[^\W\d_][\w' -]{1,40}?)\s+(?:is|are|was)\s+"
    r"(?:called\s+|named\s+|on\s+(?=.*\d))?(?P<value>.+)$"
    r"|^我的?(?P<named>[\u4e00-\u9fff]{1,10}?)(?:是|叫|为|在)(?P<given>.+)$",
    re.IGNORECASE,
)
_OTHER = r"(?:the|an?|this|that|there|his|her|their)\s(?:.*\s)?(?:is|are|was|were|has|have)\s"
"""How a statement about something else goes on: "my name is Mara and the key is with Ana"."""
_MORE = re.compile(
    rf"\b(?:and|but|because|so|which)\s+{_OTHER}|"
    r"\b(?:and|but|because|so|which)\s+(?:i|my|we|it|he|she|they|work|live|study|teach|have|like|love|prefer)\b"
    r"|[,;，；。!?]\s*\S|\w{4,}\.\s+\S",
    re.IGNORECASE,
)
"""A value that goes on with another statement is no value."""
_PARTS = re.compile(
    rf"[,;]?\s+(?:and|but)\s+(?=(?:i|i'm|my|we)\b|{_OTHER})|[,;]\s+(?=(?:i|i'm|my|we)\b)|[，；]", re.IGNORECASE
)
"""What stands between two statements of one sentence, each of which may fill a field of its own."""
_DENIAL = re.compile(r"(?:not|no|never|nowhere|none)\b|不", re.IGNORECASE)
"""What a value does not begin with: "my name is not important"."""
_END = " .。!！;；"
_SPELLINGS = (("favorite", "favourite"), ("color", "colour"), ("humor", "humour"))


@dataclass(frozen=True, slots=True)
class _Saying:
    """A usual way to state a field: its labels in the template's languages, and whether it may have several values."""

    labels: tuple[str, str]
    pattern: re.Pattern[str]
    many: bool = False


def _saying(english: str, chinese: str, pattern: str, *, many: bool = False) -> _Saying:
    return _Saying((english, chinese), re.compile(rf"^(?:{pattern})$", re.IGNORECASE), many)


_SAYINGS = (
    _saying("Name", "姓名", r"(?:my name is|i am called|i'm called)\s+(.+)|我叫(.+)|我的名字(?:是|叫)(.+)"),
    _saying("Nickname", "称呼", r"(?:please )?call me\s+(.+)|(?:请)?叫我(.+)"),
    _saying("Birthday", "生日", r"i was born (?:on|in)\s+(.+\d.*)|我(?:出)?生于(.+)|我(.+\d.*)出生"),
    _saying("Age", "年龄", r"(?:i am|i'm)\s+(\d{1,3})(?: years old)?|我(?:今年)?(\d{1,3})岁"),
    _saying("Home", "住处", r"i (?:now |currently )?live in\s+(.+)|我(?:现在)?住在(.+)"
            r"|(?:i|i've|i have) (?:just |recently )?moved (?:back )?to\s+(?-i:(?=[A-Z]))(\D+)"
            r"|我(?:现在|已经|们)?搬[到回]([^\d]+?)了?"),
    _saying("Work", "职业", r"i work as (?:an? )?(.+)|我是一[名位](.+)"),
    _saying("Employer", "雇主", r"i work (?:at|for)\s+(.+)|我在(.+?)(?:工作|上班)"),
    _saying("Languages", "会说的语言", r"i speak\s+(.+)|我会说(.+)", many=True),
    _saying("Learning", "在学", r"(?:i am|i'm) learning\s+(.+)|我(?:正)?在学(?:习)?(.+)", many=True),
    _saying("Instruments", "乐器", r"i play the\s+(.+)|我会[弹拉吹](.+)", many=True),
    _saying("Studied", "所学专业", r"i studied\s+(.+)|我(?:大学)?学的是(.+)", many=True),
    _saying("Main project", "主要项目", r"(?:i am|i'm) working on\s+(.+)", many=True),
    _saying("Now", "现在", r"my (?:current )?goal is (?:to )?(.+)|我的目标是(.+)", many=True),
    _saying("Gets up at", "起床", r"i (?:usually |always )?get up at\s+(.+)|我(?:每天|通常)?(.+\S)起床"),
    _saying("Goes to bed at", "睡觉", r"i (?:usually |always )?go to bed at\s+(.+)|我(?:每天|通常)(.+\S)睡觉"),
    _saying("Allergies", "过敏", r"(?:i am|i'm) allergic to\s+(.+)|我对(.+?)过敏", many=True),
    _saying("Diet", "饮食", r"(?:i am|i'm) (?:a )?(vegetarian|vegan|pescatarian)|我(吃素|是素食者)"),
    _saying("Partner", "伴侣", r"my (?:wife|husband|partner|girlfriend|boyfriend) is (?:called |named )?"
            r"(?!(?:an?|the|my|from) )(.+)|我(?:的)?(?:妻子|丈夫|老婆|老公|伴侣)名?叫(.+)"),
)  # fmt: skip


def changes_of_entries(entries: Iterable[StoredEntry], files: Sequence[ProfileFile]) -> tuple[ProfileChange, ...]:
    """The fields that these statements of the person name, with their values, the oldest first. `files` is the profile
    with the notes that are missing as the template has them."""
    ordered = sorted(entries, key=lambda each: (each.entry.last_stated.timestamp(), each.entry.id))
    return tuple(change for each in ordered for change in _changes_of(each, files))


def _changes_of(each: StoredEntry, files: Sequence[ProfileFile]) -> Iterator[ProfileChange]:
    whole = evidence_of(each)
    for stated in _stated(each):
        if is_question(stated) or is_event(stated):
            continue
        evidence = (Evidence(whole.note, stated, whole.day),)
        parts = (stated,) if field_stated(stated, files) else tuple(_PARTS.split(stated))
        found = [field_stated(part, files) for part in parts]
        yield from (replace(each, evidence=evidence) for each in found if each is not None)


def field_stated(text: str, files: Sequence[ProfileFile]) -> ProfileChange | None:
    """The field that a statement fills, with its value, as a change without evidence; None if it fills none."""
    labels, value, many = _field(text)
    return _filled(labels, value, files, many=many) if labels else None


def fields_stated(text: str) -> tuple[str, ...]:
    """The statement as a field of a profile has it, once for each language of the template: "Home: Oslo"."""
    labels, value, _ = _field(text)
    return tuple(f"{label}: {value}" for label in labels)


def _field(text: str) -> tuple[tuple[str, ...], str, bool]:
    """The labels of the field that a statement fills, its value, and whether the field may have several."""
    undated = pattern("dated").sub("", text.replace("’", "'"))  # "I moved to Lyon yesterday"
    plain = " ".join(undated.split()).strip(_END)
    for saying in _SAYINGS:
        found = saying.pattern.match(plain)
        value = next((group for group in found.groups() if group), "") if found else ""
        if value := _value(value):
            return saying.labels, value, saying.many
    found = _MY.match(plain)
    value = _value((found["value"] or found["given"]) if found else "")
    return ((found["label"] or found["named"],) if found and value else ()), value, False


def _stated(each: StoredEntry) -> tuple[str, ...]:
    """The statements in an entry: all of a fact; of what was to be remembered, each that states something."""
    text = each.entry.text.strip()
    if each.entry.type is EntryType.FACT or "\n" not in text:
        words = words_of_answer(text) if each.entry.source == ANSWER else without_before(text)
        return tuple(plain for line in words.splitlines() if (plain := " ".join(line.split())))
    return tuple(fact.text for fact in facts_in(SourceText(text, verbatim=True)))


def _filled(labels: Sequence[str], value: str, files: Sequence[ProfileFile], *, many: bool) -> ProfileChange | None:
    """The change that fills a field of one of these labels, in a note of the seventeen first."""
    wanted = {_spelled(label) for label in labels}
    found = [
        (not is_core(each.name), each.name, field.label)
        for each in files
        for field in each.fields
        if _spelled(field.label) in wanted
    ]
    if not found:
        return None
    _, name, label = min(found)
    return ProfileChange(name, value, (), field=label, is_one_of_many=many)


def _spelled(label: str) -> str:
    plain = " ".join(label.casefold().split())
    for other, ours in _SPELLINGS:
        plain = plain.replace(other, ours)
    return plain


def _value(text: str) -> str:
    value = text.strip(_END).strip()
    return "" if len(value) > _LONGEST_VALUE or _MORE.search(value) or _DENIAL.match(value) else value


def outdated_lines(vault: Vault, files: Iterable[ProfileFile], entries: Iterable[StoredEntry]) -> Iterator[BlockChange]:
    """The changes that take out the lines whose only evidence are those of these entries that were replaced or have
    ended. Lines that the person wrote or keeps stay, whatever is proposed."""
    old = {each.link.strip("[]") for each in entries if each.entry.superseded_by}
    for file in files if old else ():
        rows = (vault.own_version(file.path) or b"").decode("utf-8", "surrogateescape").split("\n")
        lines = [(each.line, each.text, each.section) for each in file.statements]
        lines += [(each.line, f"{each.label}: {each.value}", "") for each in file.fields if each.value]
        for line, wording, section in lines:
            row = rows[line - 1].removesuffix("\r") if line <= len(rows) else ""
            names = linked_names(row)
            if names and all(name in old for name in names):
                yield BlockChange(file.name, wording, section, (), before=(row,))


def settle_profile_questions(writing: Writing) -> Proposed:
    """The consequences of the questions that the person has answered: their line stays, the newer one takes its place,
    or both stand. Each note is marked as answered in the same commit."""
    requests, made = list[Request](), list[ProfileChange]()
    for each in decided(writing.vault):
        if each.choice != "old":
            conflict = each.conflict
            change = ProfileChange(
                conflict.note, conflict.new, conflict.evidence, conflict.field, replaces=conflict.old
            )
            proposed = propose_changes(writing, (change,), each.choice)
            if {one.path for one in proposed.requests} & {one.path for one in requests}:
                continue  # another answer changes the same notes: this one is carried out at the next change
            requests += proposed.requests
            made += proposed.made
        note = Note.parse(each.data)
        body = f"{note.body.rstrip()}\n\n→ {text('profile.settled', writing.language, day=f'{writing.now:%Y-%m-%d}')}\n"
        requests.append(Edit(each.path, each.data, note.with_body(body).with_key("status", "answered").data))
    return Proposed(tuple(requests), tuple(made))
