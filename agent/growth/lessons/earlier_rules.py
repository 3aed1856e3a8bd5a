"""The notes in `rules/` in which earlier versions had one rule each, with what stood in their headers."""

from collections.abc import Iterator
from pathlib import Path

from agent.dataclass import dataclass
from agent.growth.lessons.lesson import LessonState
from agent.markdown import blocks
from agent.markdown.note import Note
from agent.vault.folders import RULES, is_hidden, is_template
from agent.vault.store import Vault

_OTHERS = (f"{RULES}history/", f"{RULES}log.md", f"{RULES}found-methods.md")
_STATES: dict[str, LessonState] = {"": "active", "probation": "probation", "active": "active"}


@dataclass(frozen=True, slots=True)
class RuleNote:
    """A rule in the note at `path`. `learned` is the mark of the words that the agent wrote (empty: the person wrote
    it), `evidence` are the links that it rests on."""

    path: str
    text: str
    when: str
    state: LessonState
    learned: str
    evidence: tuple[str, ...]


def load_rule_notes(vault: Vault) -> Iterator[RuleNote]:
    """The rules in such notes, by path, without text that arrived and that the person has not looked at. A note with a
    broken header stays where it is, and is none."""
    place = Path(vault.place.root, vault.home.at(RULES))
    for file in sorted(place.rglob("*.md")) if place.is_dir() else ():
        path = vault.home.at(RULES) + file.relative_to(place).as_posix()
        if vault.home.holds(path, *_OTHERS) or is_template(path) or is_hidden(path):
            continue
        data = vault.own_version(path)
        rule = _parse(path, Note.parse(data)) if data is not None else None
        if rule is not None:
            yield rule


def _parse(path: str, note: Note) -> RuleNote | None:
    if note.problem is not None or note.type not in (None, "rule"):
        return None
    body, title, words = blocks.parse_body(note.body), "", list[str]()
    for row, kind in zip(body.lines, body.kinds, strict=True):
        if row.startswith("## "):
            break
        if row.startswith("# ") and not title and not words:
            title = row[2:].strip()
        elif row.strip() and kind != "comment":
            words.append(row.strip())
    sentence = " ".join(" ".join(words).split()) or title
    state = _STATES.get(str(note.header.get("status") or "").strip().casefold(), "deprecated")
    learned, when = str(note.header.get("learned") or ""), " ".join((note.string("when") or "").split())
    return RuleNote(path, sentence, when, state, learned, note.strings("evidence")) if sentence else None
