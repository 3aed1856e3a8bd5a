"""Changes of a profile by the program: the one door, for procedures, tools and models alike.

Each change cites its evidence or is refused, is noted in the changelog in the same commit, and leaves every line of the
person as it is: where the two disagree, the person is asked. The caller makes the commit of what is returned.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from datetime import datetime
from itertools import chain, islice
from typing import Literal

from agent.asking.questions.law import may_ask_one
from agent.asking.questions.notes import asked_questions
from agent.dataclass import dataclass
from agent.escape import escape
from agent.memory import daily
from agent.memory.blame import person_lines
from agent.memory.profile import questions
from agent.memory.profile.evidence import Evidence, is_there, problem_of
from agent.memory.profile.load import Outline, changelog, first_note, outline_of
from agent.memory.profile.note_edit import BlockChange, NoteEdit, Row, change_block
from agent.memory.profile.profile_file import (
    CHANGELOG,
    OBSERVED_NOTES,
    SENSITIVE_KINDS,
    SENSITIVE_NOTES,
    note_name,
    parse_profile,
    words_of_line,
)
from agent.memory.profile.questions import ProfileConflict
from agent.memory.understanding.rules import is_same, says_no_more
from agent.memory.understanding.statements import kind_of
from agent.texts import Language, text
from agent.vault.change import Append, Create, Edit, Request
from agent.vault.folders import PROFILE
from agent.vault.history.commits import line_history
from agent.vault.store import Vault

Consent = Literal["yes", "no", "ask"]
Resolution = Literal["", "new", "both"]
LONGEST, _LABEL = 500, 80
"""The most characters of a line, and of the label of a field or a heading."""


@dataclass(frozen=True, slots=True)
class ProfileChange:
    """A line for a note: `note` names it in `profile/`, `line` is what is to be said, without bullet and links.

    With `field` the line is the value of the field of that label; `is_one_of_many`: it may have several, each on a
    line. `heading` is the section of a new line, `replaces` the words of an older line of the program's whose place it
    takes. `is_counted`: the program has counted it in the notes that the evidence links to, so there is nothing to
    quote.
    """

    note: str
    line: str
    evidence: tuple[Evidence, ...]
    field: str = ""
    heading: str = ""
    replaces: str = ""
    is_counted: bool = False
    is_one_of_many: bool = False


@dataclass(frozen=True, slots=True)
class RefusedChange:
    """A change that is not made, and why, in words for a model."""

    change: ProfileChange | BlockChange
    why: str


@dataclass(frozen=True, slots=True)
class Proposed:
    """The result of proposed changes: the requests to commit together, what they add, the blocks that they change, what
    was refused, and the notes with questions that are among the requests."""

    requests: tuple[Request, ...] = ()
    made: tuple[ProfileChange, ...] = ()
    refused: tuple[RefusedChange, ...] = ()
    asked: tuple[str, ...] = ()
    blocks: tuple[BlockChange, ...] = ()


@dataclass(frozen=True, slots=True)
class Writing:
    """The vault to write in, and for whom: `actor` as commits name it, `consent` the setting `profile.sensitive`;
    `is_forgotten` is true for a text that the person wanted to be forgotten."""

    vault: Vault
    language: Language
    now: datetime
    is_forgotten: Callable[[str], bool]
    consent: Consent = "ask"
    actor: str = "agent"


@dataclass(slots=True)
class _Work:
    """The results so far, over all notes."""

    writing: Writing
    log: str
    made: list[ProfileChange | BlockChange] = field(default_factory=list)
    refused: list[RefusedChange] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    conflicts: list[ProfileConflict] = field(default_factory=list)


def propose_change(writing: Writing, change: ProfileChange) -> Proposed:
    """The result of one change; see `propose_changes`."""
    return propose_changes(writing, (change,))


def propose_changes(
    writing: Writing, changes: Iterable[ProfileChange | BlockChange], resolution: Resolution = ""
) -> Proposed:
    """The result of these changes; nothing is written yet. `resolution` is the person's answer to a question about a
    conflict: the new line takes the place of theirs, or both stay."""
    work = _Work(writing, changelog(writing.vault))
    sensitive = False
    by_note: dict[str, list[ProfileChange | BlockChange]] = {}
    for each in changes:
        name = note_name(each.note)
        plain = _plain(each, name)
        why = _problem(writing, plain) if name else "a profile has no note of this name"
        if not why and is_sensitive(plain) and not _may_be_sensitive(writing):
            sensitive = True
            why = "the person has not agreed to notes about health and other people (profile.sensitive)"
        if why:
            work.refused.append(RefusedChange(replace(plain, note=name or each.note), why))
        else:
            by_note.setdefault(name, []).append(plain)
    for name, wanted in by_note.items():
        _change_note(work, name, wanted, resolution)
    asked = _asked(writing, work.conflicts, is_sensitive=sensitive)
    if not asked:
        why = "a line of the person says otherwise and stays; they are asked about it, if they were not already"
        work.refused += (
            RefusedChange(ProfileChange(each.note, each.new, each.evidence, each.field), why) for each in work.conflicts
        )
    if work.rows:
        head = first_note(CHANGELOG, writing.language)
        path = writing.vault.home.at(PROFILE + CHANGELOG)
        work.requests.append(Append(path, "".join(f"{row}\n" for row in work.rows).encode("utf-8", "replace"), head))
    requests = (*work.requests, *asked)
    paths = tuple(each.path for each in asked)
    made = tuple(each for each in work.made if isinstance(each, ProfileChange))
    blocks = tuple(each for each in work.made if isinstance(each, BlockChange))
    return Proposed(requests, made, tuple(work.refused), paths, blocks)


def _asked(writing: Writing, conflicts: Sequence[ProfileConflict], *, is_sensitive: bool) -> tuple[Create, ...]:
    """The question to ask now, one at most: whether health may be noted, else about the first conflict. What is not
    asked now is found again at the next change."""
    wants_consent = is_sensitive and writing.consent == "ask"
    if not (conflicts or wants_consent) or not may_ask_one(asked_questions(writing.vault)):
        return ()
    place = (writing.vault, writing.language, writing.now)
    consent = questions.ask_for_consent(*place) if wants_consent else iter(())
    return tuple(islice(chain(consent, questions.ask(*place, conflicts)), 1))


def is_sensitive(change: ProfileChange | BlockChange) -> bool:
    """True for what is written only with the person's consent: health, people, belief; by its note and its words."""
    lines = (change.line,) if isinstance(change, ProfileChange) else tuple(map(words_of_line, change.after))
    texts = (*lines, *(each.quote for each in change.evidence))
    stem = change.note.removesuffix(".md")
    return stem in SENSITIVE_NOTES or any(kind_of(each) in SENSITIVE_KINDS for each in texts if each)


def log_row(writing: Writing, name: str, what: str, evidence: Sequence[Evidence]) -> str:
    """A line of the changelog: the day, the note, the change, its evidence, and who made it."""
    link = f"[[{writing.vault.home.at(PROFILE + name).removesuffix('.md')}]]"
    rests = "; ".join(escape(each.written) for each in evidence) or "–"
    return f"- {writing.now:%Y-%m-%d %H:%M} · {link} · {what} · {rests} · {writing.actor}"


def _may_be_sensitive(writing: Writing) -> bool:
    return writing.consent == "yes" or (writing.consent == "ask" and questions.has_consented(writing.vault))


def _plain(change: ProfileChange | BlockChange, name: str) -> ProfileChange | BlockChange:
    """The change with the name of its note, and a line that does nothing in an editor; blocks are written as such."""
    if isinstance(change, BlockChange):
        return replace(change, note=name)
    line, field, heading = (
        " ".join(daily.inert(words).split())[:most]
        for words, most in ((change.line, LONGEST), (change.field, _LABEL), (change.heading, _LABEL))
    )
    return replace(change, note=name, line=line, field=field, heading=heading)


def _problem(writing: Writing, change: ProfileChange | BlockChange) -> str:
    """The reason to refuse a change whatever its note says; empty if there is none."""
    if isinstance(change, BlockChange):
        return _problem_of_block(writing, change)
    if not words_of_line(change.line):
        return "there is nothing to write"
    if any(map(writing.is_forgotten, (change.line, *(each.quote for each in change.evidence if each.quote)))):
        return "the person wanted this to be forgotten"
    if not change.evidence:
        return "there is no evidence: give the note and the person's own words in it"
    if change.is_counted:
        return _problem_of_counted(writing, change)
    return next((why for each in change.evidence if (why := problem_of(writing.vault, each))), "")


def _problem_of_block(writing: Writing, change: BlockChange) -> str:
    """The same for a block. What is taken out needs no evidence."""
    if not change.before and not change.after:
        return "there is nothing to write"
    if any(map(writing.is_forgotten, change.after)):
        return "the person wanted this to be forgotten"
    if not change.after:
        return ""
    if not change.evidence:
        return "there is no evidence"
    quoted = (problem_of(writing.vault, each) for each in change.evidence if each.quote)
    return next(filter(None, quoted), "") or _problem_of_counted(writing, change)


def _problem_of_counted(writing: Writing, change: ProfileChange | BlockChange) -> str:
    if change.note.removesuffix(".md") not in OBSERVED_NOTES:
        return "without a quotation, only what was observed is written, into notes about patterns and preferences"
    is_there_all = all(is_there(writing.vault, each) for each in change.evidence)
    return "" if is_there_all else "a note of the evidence is not there, or is not the person's"


def _change_note(work: _Work, name: str, wanted: Sequence[ProfileChange | BlockChange], resolution: Resolution) -> None:
    """Make the changes of one note, and add its request."""
    writing = work.writing
    path = writing.vault.home.at(PROFILE + name)
    base = writing.vault.read(path)
    known = writing.vault.own_version(path)
    if base is not None and known != base:
        why = "a part of this note came from elsewhere, and the person has not looked at it yet"
        work.refused += (RefusedChange(each, why) for each in wanted)
        return
    begin = base if base is not None else first_note(name, writing.language)
    outline = outline_of(name, writing.language)
    theirs = person_lines(writing.vault, path, begin) if base is not None else (False,) * (begin.count(b"\n") + 1)
    edit = NoteEdit.begin(begin, theirs)
    edit.find_marked()
    gone = _gone(writing.vault, path, edit)
    made, rows = list[ProfileChange | BlockChange](), list[str]()
    for change in wanted:
        if isinstance(change, BlockChange):
            done = _apply_block(edit, change)
        else:
            is_logged = not resolution and _is_logged(work.log, path, change)
            done = _apply(edit, change, is_logged, gone, outline, writing.language, resolution)
        match done:
            case RefusedChange():
                work.refused.append(done)
            case ProfileConflict():
                work.conflicts.append(done)
            case _:
                edit.evidence += change.evidence
                made.append(change)
                what = text(f"profile.{done}", writing.language, line=_words_of(change))
                rows.append(log_row(writing, name, what, change.evidence))
    if not made:
        return
    after = edit.result(parse_profile(path, name, begin))
    if after is None:
        work.refused += (RefusedChange(each, "a line of the person would be lost") for each in made)
        return
    work.made += made
    work.rows += rows
    work.requests.append(Create(path, after) if base is None else Edit(path, base, after))


_Done = Literal["filled", "added", "replaced", "removed"]


def _apply_block(edit: NoteEdit, change: BlockChange) -> "_Done | RefusedChange | ProfileConflict":
    done = change_block(edit, change)
    why = "these lines are the person's, or they keep the section as it is"
    return done or RefusedChange(change, why)


def _apply(
    edit: NoteEdit,
    change: ProfileChange,
    is_logged: bool,
    gone: frozenset[str],
    outline: Outline,
    language: Language,
    resolution: Resolution,
) -> "_Done | RefusedChange | ProfileConflict":
    """Make one change; what was done, or why not."""
    edit.find_marked()
    if is_logged:
        return RefusedChange(change, "this was written into the note before")
    links = " ".join(dict.fromkeys(each.dated_link for each in change.evidence))
    row = edit.empty_field(change.field) if change.field and not edit.filled_fields(change.field) else None
    if row is not None:
        edit.fill(row, f"{change.line} ({links})")
        return "filled"
    line = f"- **{change.field}**: {change.line} ({links})" if change.field else f"- {change.line} ({links})"
    against = _against(edit, change) if resolution != "both" else None
    if isinstance(against, RefusedChange):
        return against
    if not resolution and not change.is_counted and words_of_line(line).casefold() in gone:
        return RefusedChange(change, "the person has removed or changed this line")
    if against is not None:
        if against.is_marked or (against.is_theirs and resolution != "new"):
            return ProfileConflict(change.note, against.text, change.line, change.field, change.evidence)
        against.text, against.is_theirs = _indent(against.text) + line, False
        return "replaced"
    own = outline.heading_of(change.field)
    heading = own or change.heading or text("profile.own_words", language)
    if not edit.add(heading, line, before=outline.after(heading)):
        return RefusedChange(change, "the person keeps this section as it is")
    return "filled" if own else "added"


def _against(edit: NoteEdit, change: ProfileChange) -> Row | RefusedChange | None:
    """The line that says otherwise or is to be replaced; `RefusedChange` if one says the same already."""
    if change.field and (filled := edit.filled_fields(change.field)):
        if any(change.line.casefold() in value.casefold() for _, value in filled):
            return RefusedChange(change, "the field says this already")
        return None if change.is_one_of_many else filled[0][0]
    if change.replaces and (row := edit.line_saying(change.replaces)) is not None:
        return row
    if change.is_counted:  # the same count of another week is another line
        links = [(each.link, each.dated_link) for each in change.evidence]
        is_known = any(
            words == change.line and all(one in row.text or other in row.text for one, other in links)
            for row, words in edit.worded_rows()
        )
        return RefusedChange(change, "the note says this already") if is_known else None
    wanted = change.line.strip('“”"')
    for _, words in edit.worded_rows():
        plain = words.strip('“”"')
        if is_same(wanted, plain) or says_no_more(wanted, plain) or wanted.casefold() in plain.casefold():
            return RefusedChange(change, "the note says this already")
    return None


def _gone(vault: Vault, path: str, edit: NoteEdit) -> frozenset[str]:
    """The words of lines that are not there any more: a person has removed or changed them."""
    now = {words.casefold() for _, words in edit.worded_rows()}
    added = line_history(vault, path).added
    earlier = {words_of_line(row).casefold() for row in added if row.lstrip().startswith(("-", "*"))}
    return frozenset(earlier - now - {""})


def _is_logged(log: str, path: str, change: ProfileChange) -> bool:
    """True if the changelog has this change of the note with this evidence."""
    link = f"[[{path.removesuffix('.md')}]]"
    marks = [escape(each.written) for each in change.evidence if each.quote]
    rows = [row for row in log.splitlines() if link in row and _words_of(change) in row]
    return bool(marks) and any(all(mark in row for mark in marks) for row in rows)


def _words_of(change: ProfileChange | BlockChange) -> str:
    if isinstance(change, BlockChange):
        return " ".join(change.says.split())[:LONGEST]
    return f"{change.field}: {change.line}" if change.field else change.line


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
