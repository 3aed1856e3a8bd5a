"""Tombstones: fingerprints of forgotten sentences, never the text, which prevent a memory's return.

Each forgetting has its own note in `archive/forgotten/`, so that clones never conflict in one file, and deleting the
note, also by hand, reverts the forgetting. Two texts have the same fingerprint when they use the same words, with any
order, case, endings or punctuation. The choice of texts is left to `forget`. As a tombstone blocks a memory, it counts
only if this program or the person wrote it, by the history (`trusted_tombstones`); the history's answers are cached in
the vault's private folder, so that git is asked once, and that file can be deleted.

The sentences of a text, and the text without those that are forgotten, of which no fragment stays behind.

What stands in brackets belongs to the sentence around it, though it has points and semicolons of its own. A sentence
that needs the one before it to be understood goes with that one: "It was 920 before."
"""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

from agent import texts
from agent.config import durable
from agent.config.resources import pattern
from agent.dataclass import dataclass
from agent.index.analysis import terms
from agent.json_value import parse_json
from agent.markdown.links import without_links
from agent.markdown.note import Note
from agent.markdown.title import short_title
from agent.markdown.yaml_write import Value
from agent.memory.entry import slug
from agent.memory.understanding.statements import is_claim, is_statement
from agent.memory.understanding.wording import wording
from agent.texts import Language
from agent.vault.change import FORGET
from agent.vault.folders import FORGOTTEN
from agent.vault.history.versions import committed_blobs, last_changed_by_person
from agent.vault.store import Vault

SENTENCE = re.compile(r"[^.!?。！？；;\n]+(?:[.:](?=\w)[^.!?。！？；;\n]*)*[.!?。！？；;]*")
_INNER = r"[^()（）\[\]【】\n]"
_BRACKETS = re.compile(rf"[(（\[【]{_INNER}*(?:[(（\[【]{_INNER}*[)）\]】]{_INNER}*)*[)）\]】]")
_MARKS = re.compile(r"\A[\W_]+")
_ENDS = ".!?。！？；;"


def without_sentences(row: str, is_gone: Callable[[str], bool], mark: str = "") -> str:
    """The line with `mark` in place of each run of sentences that are gone, or need one that is."""
    left, run, end = "", "", 0
    for begin, stop in _spans(row):
        sentence = row[begin:stop]
        if is_gone(sentence) or (run and needs_the_one_before(sentence, row[:begin])):
            run += row[end:stop]
        else:
            left += _as_before(run, mark) + row[end:stop]
            run = ""
        end = stop
    return left + _as_before(run, mark) + row[end:]


def needs_the_one_before(sentence: str, before: str = "") -> bool:
    """True for a sentence that says nothing, or another thing, without what stands before it."""
    bare = sentence.strip()
    words = _MARKS.sub("", bare)
    if not words or _BRACKETS.fullmatch(bare.rstrip(_ENDS)):
        return True
    if any(pattern(name).match(words) for name in ("pronoun", "past")):
        return True
    return before.rstrip().endswith((";", "；")) and (words[0].isdigit() or not (is_claim(words) or ":" in words))


def _spans(row: str) -> Iterator[tuple[int, int]]:
    """Begin and end of each sentence, with whole brackets."""
    brackets = [found.span() for found in _BRACKETS.finditer(row)]
    begin: int | None = None
    for found in SENTENCE.finditer(row):
        begin = found.start() if begin is None else begin
        if not any(first < found.end() < last for first, last in brackets):
            yield begin, found.end()
            begin = None
    if begin is not None:
        yield begin, len(row)


def _as_before(text: str, mark: str) -> str:
    """The mark with the spaces that stood around the text; nothing without a mark or a text."""
    return text[: len(text) - len(text.lstrip())] + mark + text[len(text.rstrip()) :] if mark and text else ""


TYPE = "forgotten"
_LENGTH = 32
_LEAST_TERMS, _LEAST_CHARACTERS = 2, 4
"""The minimum for a clause to get a fingerprint: distinct words, or characters in scripts without spaces."""
_CLAUSE = re.compile(r"[,，、:：()（）—·]+")
_LEAD = re.compile(
    r"^\s*(?:[-*+>#]\s+|\d{1,3}[.)]\s+)*(?:\*\*)?(?:\[[ xX]\]\s*)?"
    r"(?:(?:user|assistant|agent|you|me|用户|助手)\s*[:：]\s*)?"
    r"(?:(?:please|and|but|so|also)\s+)?"
    r"(?:(?:remember|note|know|keep in mind|i (?:said|told you|think|mean))(?:\s+that)?\s+"
    r"|(?:请)?(?:记住|记得)[,，:：]?\s*)?",
    re.IGNORECASE,
)
_NAMES = re.compile(
    r"\[\[(?:[^\]|\n]*/)?\d{4}-\d\d-\d\d[- ]([^\]|/\n]+?)(?:-[0-9a-z]{6}| \d{1,3})?(?:\.md)?(?:\|[^\]\n]*)?\]\]"
)
"""A link to a note that is named after a day and its first words."""
_TIME = re.compile(r"^\s*(?:#{1,6}|[-*+])\s+\d\d:\d\d\s+(?:-\s+)?")
_BULLET = re.compile(r"[ \t]*(?:[-*+>]|\d{1,3}[.)])[ \t]+")
_MORE = re.compile(r"[(（](?:and|另有) \d+ \w+[)）]")
"""The words with which a summary counts omitted items."""
_COURTESY = frozenset(
    terms("ok okay yes thanks thank lot hello hi please sure great good noted done right fine welcome you're sorry")
)
PRONOUNS = frozenset("我你您他她它们咱")
_NOT = re.compile(r"\b(?:not|no|never|cannot|without)\b|n't\b|[不没別别勿未]", re.IGNORECASE)


def trusted_tombstones(vault: Vault, notes: Mapping[str, bytes]) -> frozenset[str]:
    """The paths among `notes` (tombstones with their bytes) whose content was written here or by the person.

    Content without a commit was saved by hand on this machine, because tools commit what they write. Raises
    `AgentError` when git fails.
    """
    file = vault.private_folder / "forgotten.json"
    known = _load(file)
    keys = {path: f"{vault.content_id(data)} {path}" for path, data in notes.items()}
    new = [path for path in notes if keys[path] not in known]
    if new:
        committed = committed_blobs(vault, new)
        asked = {path for path in new if committed.get(path) == keys[path].partition(" ")[0]}
        origin = last_changed_by_person(vault, asked, FORGET)
        known |= {keys[path]: path in origin or path not in asked for path in new}
        if asked:
            _save(file, {keys[path]: known[keys[path]] for path in notes if path in asked or path not in new})
    here = (path for path in notes if known[keys[path]])
    return frozenset(path for path in here if not vault.provenance.arrived(path, keys[path].partition(" ")[0]))


def _load(file: Path) -> dict[str, bool]:
    """The cached answers; none if the file cannot be read."""
    try:
        document = parse_json(file.read_bytes())
        return {str(key): value is True for key, value in document.items()}
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


def _save(file: Path, answers: Mapping[str, bool]) -> None:
    try:
        durable.replace(file, json.dumps(answers, indent=1))
    except OSError:
        return  # git is asked again next time


@dataclass(frozen=True, slots=True)
class Tombstones:
    """The fingerprints of forgotten texts."""

    marks: frozenset[str] = frozenset()

    @property
    def gap(self) -> str:
        """The mark in a line in place of the forgotten text."""
        return "…"

    def is_forgotten(self, text: str) -> bool:
        """True if the text, or a sentence or clause in it, was forgotten."""
        return bool(self.marks) and not self.marks.isdisjoint(fingerprints(text))

    def without_forgotten(self, text: str) -> str:
        """The text without forgotten sentences; empty when nothing remains, or the text as a whole was forgotten."""
        if not self.is_forgotten(text):
            return text
        if not self.marks.isdisjoint(_both(text)):
            return ""
        remaining = (without_sentences(line, self.is_forgotten) for line in text.split("\n"))
        left = "\n".join(line for line in remaining if terms(line))
        return "" if self.is_forgotten(left) else left

    def left_of_log(self, row: str) -> str:
        """A line of a day's log or summary without forgotten text; empty if nothing remains, but a heading keeps its
        time.

        The time is compared separately: "## 09:00 - Anna likes tea" says that Anna likes tea. A link is compared too if
        its note is named after the statement.
        """
        row = _NAMES.sub(lambda link: self.gap if self.is_forgotten(_as_text(link[1])) else link[0], row)
        time = _TIME.match(row)
        words = row[time.end() :] if time else row
        if not self.is_forgotten(words):
            return row
        left = self.without_forgotten(words).strip("\r\n ·")
        bullet = "" if time else (_BULLET.match(words) or [""])[0]
        if not left.startswith(bullet):
            left = bullet + left
        if not terms(_MORE.sub("", without_links(left))):
            return f"{time[0].rstrip()} {self.gap}" if time and "#" in time[0] else ""
        return f"{time[0] if time else ''}{left}"


def load_tombstones(
    vault: Vault, trusted: Callable[[Vault, Mapping[str, bytes]], Collection[str]] = trusted_tombstones
) -> Tombstones:
    """All fingerprints of a vault; reads one small folder. `trusted` returns the notes in it that count."""
    notes = _notes(vault)
    read = [Note.parse(notes[path]) for path in sorted(trusted(vault, notes))] if notes else []
    return Tombstones(frozenset(mark for note in read for mark in note.strings("fingerprints")))


def foreign_tombstones(vault: Vault) -> tuple[str, ...]:
    """The tombstones that do not count, because neither this program nor the person wrote them; sorted."""
    notes = _notes(vault)
    return tuple(sorted(notes.keys() - trusted_tombstones(vault, notes))) if notes else ()


def _notes(vault: Vault) -> dict[str, bytes]:
    """The tombstones in the folder, with their bytes."""
    forgotten = vault.home.at(FORGOTTEN)
    folder = Path(vault.place.root, forgotten)
    names = sorted(path.name for path in folder.glob("*.md")) if folder.is_dir() else []
    found = {forgotten + name: vault.read(forgotten + name) or b"" for name in names}
    return {path: data for path, data in found.items() if Note.parse(data).type == TYPE}


def compose_tombstone(
    marks: Iterable[str], identity: str, when: datetime, language: Language = "en"
) -> tuple[str, bytes]:
    """The path (in the agent's folder) and the bytes of a tombstone with these fingerprints."""
    prints = sorted({*marks})
    header: dict[str, Value] = {
        "id": identity,
        "type": TYPE,
        "created": when.replace(microsecond=0),
        "fingerprints": prints,
    }
    path = f"{FORGOTTEN}{when:%Y-%m-%d}-{identity[-6:].lower()}.md"
    return path, Note.compose(header, texts.text("forgetting.tombstone", language) + "\n").data


def fingerprint(text: str) -> str:
    """The fingerprint of a text as a whole; empty for a text without words."""
    plain = without_lead(text)
    words = sorted(set(terms(plain)))
    if not words:
        return ""
    joined = "\0".join(["not" if _NOT.search(plain) else "", *words])
    return hashlib.sha256(joined.encode()).hexdigest()[:_LENGTH]


def fingerprints(text: str) -> frozenset[str]:
    """The fingerprints of a text, its sentences and its clauses; courtesies have none."""
    return frozenset(filter(None, (each for part in (text, *_parts(text)) for each in _both(part))))


def _both(text: str) -> tuple[str, str]:
    """The exact fingerprint of a text, and a loose one that ignores particles, courtesies and the format of numbers:
    "前男友住在利兹" and "我的前男友住在利兹", "4,150" and "4150"."""
    plain = without_lead(text)
    parts = wording(plain)
    words = sorted((parts.words - PRONOUNS) | parts.numbers)
    if len(words) < _LEAST_TERMS or not says_something(plain):
        return fingerprint(text), ""
    loose = "\0".join(["loosely", "not" if parts.negated else "", *words])
    return fingerprint(text), hashlib.sha256(loose.encode()).hexdigest()[:_LENGTH]


def marks(text: str, about: str = "") -> frozenset[str]:
    """The fingerprints stored for a text: of the whole, its sentences, and clauses that are statements by themselves
    ("near the river" is not). With `about`, only of sentences that share a word with it."""
    wanted = set(terms(about)) - _COURTESY
    sentences = [each for each in SENTENCE.findall(without_links(text, " ")) if not about or wanted & set(terms(each))]
    clauses = (part for each in sentences for part in _CLAUSE.split(_LEAD.sub("", each)) if is_statement(part))
    parts = [part for part in (*sentences, *clauses) if says_something(_LEAD.sub("", part))]
    whole = [] if about else [text]
    return frozenset(filter(None, (each for part in (*whole, *parts) for each in _both(part))))


def name_marks(text: str) -> frozenset[str]:
    """The fingerprints of a text's first words, as in the names of notes; none for a text without content."""
    names = filter(says_something, (_as_text(slug(text)), short_title(text)))
    return frozenset(filter(None, map(fingerprint, names)))


def _as_text(name: str) -> str:
    return name.replace("-", " ")


def _parts(text: str) -> Iterator[str]:
    for sentence in SENTENCE.findall(without_links(text, " ")):
        plain = _LEAD.sub("", sentence)
        for part in (plain, *_CLAUSE.split(plain)):
            if says_something(part):
                yield part


def without_lead(text: str) -> str:
    """The text without links, and without the marks, labels and phrases before its statement ("remember that")."""
    return _LEAD.sub("", without_links(text, " "))


def says_something(part: str) -> bool:
    """True if the text has enough words, courtesies aside, to be recognised by them."""
    words = set(terms(part)) - _COURTESY
    return len(words) >= _LEAST_TERMS and (part.isascii() or len(re.findall(r"\w", part)) >= _LEAST_CHARACTERS)
