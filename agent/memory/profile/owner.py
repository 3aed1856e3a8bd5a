"""The block about the owner, with which every conversation begins: who they are, their standing wishes, their vault.

What they said stands in their words. Pure: the caller reads the notes, and leaves out what others wrote.

The kinds of text that a task asks for: a preference for one kind says nothing about another. Pure.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Literal, TypeAlias, get_args

from agent.config.resources import pattern
from agent.dataclass import dataclass
from agent.memory.memory_note import LongTermFact
from agent.memory.profile.profile_file import ProfileFile
from agent.memory.store import StoredEntry
from agent.memory.understanding.rules import is_same
from agent.memory.understanding.seam import WISH, FactKind
from agent.memory.understanding.statements import is_lasting_wish, kind_of
from agent.texts import Language, in_all_languages, text
from agent.vault.folders import DAILY, INBOX, MEMORY_NOTE, RESEARCH

TaskKind: TypeAlias = Literal["answer", "letter", "report", "plan", "code", "note"]
TASK_KINDS: tuple[TaskKind, ...] = get_args(TaskKind)
_NAMED: tuple[TaskKind, ...] = ("letter", "code", "report", "plan", "note")
"""The kinds that have words of their own, in the order in which they are looked for."""
_OF_FOLDER: dict[str, TaskKind] = {RESEARCH: "report", INBOX: "answer", DAILY: "note"}


def named_kinds(text: str) -> frozenset[TaskKind]:
    """The kinds of text that a sentence names, such as reports and mails; empty for none."""
    return frozenset(kind for kind in _NAMED if pattern(f"task_{kind}").search(text))


def kind_of_task(task: str) -> TaskKind:
    """The kind of text that a task asks for; an answer, if its words name no other."""
    return next((kind for kind in _NAMED if pattern(f"task_{kind}").search(task)), "answer")


def kind_of_note(name: str) -> TaskKind:
    """The kind of text in a note, by its name as the table of folders has it."""
    for path, kind in _OF_FOLDER.items():
        if name.startswith(path):
            return kind
    words = PurePosixPath(name).stem.replace("-", " ").replace("_", " ")
    return next((kind for kind in _NAMED if pattern(f"task_{kind}").search(words)), "note")


_LINE = re.compile(  # earlier versions wrote a second figure in brackets
    r"^(?:[-*+] )?(?P<says>\S.*?) · (?P<confidence>[01]\.\d\d)(?: ?[(（][^·]*?[)）])?"
    r" · (?P<counts>[^·^]+?)(?: · (?P<tasks>[^·^]+?))?(?: \^belief-(?P<id>[0-9a-f]{8}))?\s*$"
)


@dataclass(frozen=True, slots=True)
class BeliefLine:
    """A belief as its line says it. `tasks` are the kinds of texts for which it holds, empty for all; None: it is about
    its subject, whatever text is asked for. `id` is empty where the line stands without it.
    `is_doubted`: the person is to be asked whether it holds."""

    says: str
    confidence: float
    tasks: frozenset[TaskKind] | None
    id: str = ""
    is_doubted: bool = False


@dataclass(frozen=True, slots=True)
class BeliefFigures:
    """The figures of a belief: `signs` for it and `against` it."""

    confidence: float
    signs: int
    against: int = 0
    is_confirmed: bool = False
    is_doubted: bool = False


def parse_belief_line(line: str) -> BeliefLine | None:
    """The belief in a line; None for any other line."""
    found = _LINE.match(line.rstrip())
    if found is None:
        return None
    tasks = _tasks(found["tasks"]) if found["tasks"] else None
    is_doubted = any(words in found["counts"] for words in in_all_languages("belief.doubted"))
    return BeliefLine(found["says"], float(found["confidence"]), tasks, found["id"] or "", is_doubted)


def format_belief_line(
    says: str, figures: BeliefFigures, tasks: Collection[TaskKind] | None, id: str, language: Language
) -> str:
    """The line of a belief, as a list item; `tasks` and `id` as in `BeliefLine`."""
    words = [text("belief.signs" if figures.signs > 1 else "belief.sign", language, count=figures.signs)]
    words += [text("belief.against", language, count=figures.against)] if figures.against else []
    words += [text("belief.confirmed", language)] if figures.is_confirmed else []
    words += [text("belief.doubted", language)] if figures.is_doubted else []
    comma = text("belief.comma", language)
    parts = [says, format_confidence(figures.confidence), comma.join(words)]
    if tasks is not None:
        named = [text(f"belief.task_{kind}", language) for kind in TASK_KINDS if kind in tasks]
        parts.append(comma.join(named) or text("belief.all_tasks", language))
    return f"- {' · '.join(parts)} ^belief-{id}"


def format_confidence(confidence: float) -> str:
    """A confidence with two digits, rounded down, so that nothing is said to be surer than it is."""
    return f"{int(confidence * 100 + 1e-9) / 100:.2f}"


def _tasks(words: str) -> frozenset[TaskKind] | None:
    """The kinds of texts that a line names; None for what is none of them."""
    if words in in_all_languages("belief.all_tasks"):
        return frozenset()
    named = {name: kind for kind in TASK_KINDS for name in in_all_languages(f"belief.task_{kind}")}
    parts = [part.strip() for part in re.split("[,，、]", words)]
    return frozenset(named[part] for part in parts) if all(part in named for part in parts) else None


MOST = 600
"""The most tokens of the block."""
_ABOUT = ("00-basic-info", "40-relationships", "41-projects-work")
"""The notes of the profile that say who somebody is; the wishes are in `_WISHES`."""
_WISHES = "31-preferences"
TOLD = 0.6
"""A preference that was learned is told above this confidence."""
_ROWS = 12
"""The most rows that are given of a note of the profile."""
NAMES = 6
"""The names that are given of each folder."""
_SHARES = (0.45, 0.75)
"""The parts of the room that wishes, and wishes and facts together, may take before the map of the vault."""


@dataclass(frozen=True, slots=True)
class VaultPlace:
    """A folder at the top of the vault with the person's own notes: its name, the count, and some names in it."""

    name: str
    notes: int
    names: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The folder in one line."""
        return f"- {self.name} ({self.notes}){': ' if self.names else ''}{', '.join(self.names[:NAMES])}"


@dataclass(frozen=True, slots=True)
class OwnerFacts:
    """The known facts about the owner, each in one line, the most telling first, with a link to where they stand."""

    wishes: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    learned: tuple[str, ...] = ()
    """What they seem to prefer, in the program's words: learned from what they have said, changed and chosen."""


def owner_facts(
    files: Iterable[ProfileFile], remembered: Sequence[LongTermFact], entries: Sequence[StoredEntry]
) -> OwnerFacts:
    """The wishes and the facts in the notes of the profile, in MEMORY.md and in `entries` (newest first); what is said
    in several places stands once, as it was said last."""
    notes = {each.name.removesuffix(".md"): each for each in files}
    statements = [(each.entry.text.strip(), each.entry.slots.get("kind", ""), each.link) for each in entries]
    statements += [(each.text, "", f"[[{PurePosixPath(MEMORY_NOTE).stem}]]") for each in remembered]
    wishes = [text for text, kind, _ in statements if kind == WISH or is_lasting_wish(text)]
    wishes += [text for text in _rows(notes.get(_WISHES)) if text not in wishes]
    known = [_note_line(notes[name]) for name in _ABOUT if name in notes and _rows(notes[name])]
    others = [each for each in statements if each[0] not in wishes]
    learned = _learned(notes[_WISHES]) if _WISHES in notes else ()
    return OwnerFacts(_once(wishes), (*known, *_fresh_facts(others, known)), learned)


def _fresh_facts(statements: Sequence[tuple[str, str, str]], known: Sequence[str]) -> Iterator[str]:
    """The statements about the owner (text, kind, link) that no known line has, each once, with its link."""
    facts = {text: f"{text} {link}" for text, kind, link in statements if _is_about_owner(text, kind)}
    return (facts[text] for text in _once(list(facts)) if not any(text in line for line in known))


def owner_block(facts: OwnerFacts, places: Sequence[VaultPlace], room: int, count: Callable[[str], int]) -> str:
    """The block in at most `room` tokens; empty where nothing is known and the vault has no notes of theirs."""
    wishes = _section("What they wish, in their words; it holds always:", map(_item, facts.wishes), count)
    about = _section("Who they are, and who is close to them:", map(_item, facts.facts), count)
    total = sum(each.notes for each in places)
    listed = _section(
        f"Their vault, {total} notes, with the newest of each folder:", (each.line for each in places), count
    )
    learned = _section("What they seem to prefer, by what they changed and chose:", map(_item, facts.learned), count)
    rows = wishes(int(room * _SHARES[0]))
    rows += learned(int(room * _SHARES[0]) - count("\n".join(rows)))
    rows += about(int(room * _SHARES[1]) - count("\n".join(rows)))
    rows += listed(room - count("\n".join(rows)) - 8)
    return "\n".join(["Your owner", *rows]) if rows else ""


def _learned(file: ProfileFile) -> tuple[str, ...]:
    """The preferences that are sure enough, the surest first, with the kinds of texts that they are about."""
    lines = (parse_belief_line(each.text) for each in file.statements)
    sure = [each for each in lines if each is not None and each.confidence > TOLD and not each.is_doubted]
    sure.sort(key=lambda each: -each.confidence)
    return tuple(f"{each.says} ({', '.join(sorted(each.tasks))})" if each.tasks else each.says for each in sure)


def _is_about_owner(text: str, kind: str) -> bool:
    """True for a fact about the owner, or about somebody whom they call theirs."""
    about = kind or str(kind_of(text))
    return about == FactKind.SELF or (about == FactKind.PERSON and pattern("own").search(text) is not None)


def _note_line(file: ProfileFile) -> str:
    """The statements of a note of the profile, in one line."""
    return f"{'; '.join(_rows(file)[:_ROWS])} [[{file.path.removesuffix('.md')}]]"


def _section(head: str, lines: Iterable[str], count: Callable[[str], int]) -> Callable[[int], list[str]]:
    def within(room: int) -> list[str]:
        rows = [head]
        for line in lines:
            if count("\n".join([*rows, line])) > room:
                break
            rows.append(line)
        return rows if len(rows) > 1 else []

    return within


def _item(words: str) -> str:
    return f"- {' '.join(words.split())}"


def _rows(file: ProfileFile | None) -> list[str]:
    """What a note says, without what is believed of the person: that is said in the program's words."""
    return [text for text in file.words if parse_belief_line(text) is None] if file is not None else []


def _once(texts: Sequence[str]) -> tuple[str, ...]:
    unique: list[str] = []
    for each in texts:
        if each and not any(each in other or is_same(each, other) for other in unique):
            unique.append(each)
    return tuple(unique)
