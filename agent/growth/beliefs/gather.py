"""Gathers the signals of a vault: from statements, the person's own lines, edits, choices and conversations.

What somebody else wrote, a guest said, a model concluded, or was replaced since is left out.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from datetime import date, datetime, timedelta
from pathlib import PurePosixPath

from agent.clock import clock_zone
from agent.dataclass import dataclass
from agent.growth.beliefs.blocks import NOTE, quoted
from agent.growth.beliefs.from_talk import signals_of_questions, talk_of
from agent.growth.beliefs.sign import Sign, SignKind, of_lesson, without_separator
from agent.growth.beliefs.stated import StatedPreference, stated_preferences, styles_in
from agent.growth.patterns.gather import MOST_ENTRIES, notes_of_days, own_sessions
from agent.memory.blame import EDITS, person_lines
from agent.memory.edits.lesson import EditLesson, LessonKind
from agent.memory.edits.person_edits import Seen, lessons_since
from agent.memory.forgetting.tombstones import load_tombstones
from agent.memory.profile.evidence import Evidence, evidence_of
from agent.memory.profile.owner import kind_of_note, named_kinds
from agent.memory.profile.profile_file import field_in, words_of_line
from agent.memory.store import StoredEntry, load_entries
from agent.memory.understanding.statements import sentences_in
from agent.runs.owner import is_stated_by_owner
from agent.tools.text_origin import TextOrigin
from agent.vault.folders import ENTRIES, AgentFolder
from agent.vault.history.commit_index import HUMAN
from agent.vault.history.commits import Commit, blame, read_commits
from agent.vault.history.find import commits
from agent.vault.store import Vault


def signals_of_entries(entries: Iterable[StoredEntry]) -> Iterator[Sign]:
    """The signals of statements of the person's; one that was said again on another day counts twice.

    The caller gives only what the owner of the vault has stated, and what still holds.
    """
    for each in entries:
        whole, entry = evidence_of(each), each.entry
        days = dict.fromkeys((entry.created.date(), entry.last_stated.date()))
        for sentence in sentences_in(entry.text):
            for dimension, value in stated_preferences(sentence):
                for day in days:
                    evidence = Evidence(whole.note, " ".join(sentence.split()), day.isoformat())
                    yield Sign("stated", dimension, value, day, evidence, tasks=named_kinds(sentence))


def signals_of_note(vault: Vault, today: date) -> tuple[Sign, ...]:
    """What the lines say that the person has written into the note of their preferences themselves; as long as such a
    line stands there, it is what they prefer."""
    path = vault.home.at(NOTE)
    data = vault.own_version(path)
    if data is None:
        return ()
    rows = data.decode("utf-8", "replace").splitlines()
    theirs = person_lines(vault, path, data)
    own = [
        row for at, row in enumerate(rows) if at < len(theirs) and theirs[at] and row.lstrip().startswith(("-", "*"))
    ]
    found = [(row, preference) for row in own for preference in _preferences_in(row)]
    if not found:
        return ()
    days = _days_of_lines(vault, path)
    signals: list[Sign] = []
    for row, (dimension, value) in found:
        day = days.get(row, today)
        evidence = Evidence(path.removesuffix(".md"), day=day.isoformat())
        signals.append(Sign("stated", dimension, value, day, evidence, tasks=named_kinds(row)))
    return tuple(signals)


def _preferences_in(row: str) -> Iterator[StatedPreference]:
    field = field_in(row)
    if field is not None:
        yield from styles_in(field[2]) if field[2] else ()
    else:
        yield from stated_preferences(words_of_line(row))


def _days_of_lines(vault: Vault, path: str) -> dict[str, date]:
    """The day on which each line was committed."""
    blamed = dict(blame(vault, path, any_space=True))
    zone = clock_zone(vault.clock.now())
    whens = {each.id: each.when.astimezone(zone).date() for each in read_commits(vault, sorted(set(blamed.values())))}
    return {row: whens[commit] for row, commit in blamed.items() if commit in whens}


_SEEN = re.compile(r"^Seen up to ([0-9a-f]{40,64})$", re.MULTILINE)
_SEPARATOR = " · "
_FIELDS = 7
_KINDS: dict[str, LessonKind] = {"style": "style", "correction": "correction", "preference": "preference"}


def ledger_body(seen: Sequence[Seen], up_to: str) -> str:
    """The message of a commit: one row for each lesson with its note, its commit and what was changed."""
    rows = [
        "- "
        + _SEPARATOR.join(
            (
                each.lesson.kind,
                without_separator(each.lesson.topic),
                without_separator(each.lesson.value),
                each.day.isoformat(),
                without_separator(each.path),
                each.commit[:12] or "-",
                without_separator(format_change(each.lesson)) or "-",
            )
        )
        for each in seen
    ]
    return "\n".join([*rows, *([""] if rows else []), *([f"Seen up to {up_to}"] if up_to else [])])


def seen_up_to(made: Iterable[Commit]) -> str:
    """The commit up to which edits were looked at, by the newest of these commits that says so; empty if none does."""
    found = (_SEEN.search(each.body) for each in made)
    return next((match[1] for match in found if match), "")


def signals_in_ledger(made: Iterable[Commit], undone: frozenset[str], home: AgentFolder) -> Iterator[Sign]:
    """The signals that the messages of these commits name, without those that were undone."""
    for commit in made:
        for row in commit.body.splitlines() if commit.id not in undone else ():
            fields = row.removeprefix("- ").split(_SEPARATOR)
            if row.startswith("- ") and len(fields) == _FIELDS and fields[0] in _KINDS:
                lesson = EditLesson(_KINDS[fields[0]], fields[1], fields[2])
                try:
                    day = date.fromisoformat(fields[3])
                except ValueError:
                    continue
                yield from _signals(lesson, fields[4], day, fields[6].removeprefix("-").strip(), home)


def signals_of_edits(seen: Iterable[Seen], home: AgentFolder) -> Iterator[Sign]:
    """The signals of edits that no commit names yet."""
    for each in seen:
        yield from _signals(each.lesson, each.path, each.day, format_change(each.lesson), home)


def format_change(lesson: EditLesson) -> str:
    """What was changed, as short quotations; empty if that is not known."""
    before, after = quoted(lesson.before), quoted(lesson.after)
    return " ".join(filter(None, (before, "→" if before and after else "", after)))


def _signals(lesson: EditLesson, path: str, day: date, excerpt: str, home: AgentFolder) -> Iterator[Sign]:
    evidence = Evidence(PurePosixPath(path).with_suffix("").as_posix(), day=day.isoformat())
    is_wish = lesson.kind == "preference" and lesson.value == "with"
    wished = stated_preferences(lesson.after or lesson.topic) if is_wish else ()
    kind: SignKind = "stated" if is_wish else "edited"  # a wish in a note is a statement
    tasks = frozenset() if is_wish else frozenset((kind_of_note(home.name_of(path)),))
    for dimension, value in wished or (of_lesson(lesson),):
        yield Sign(kind, dimension, value, day, evidence, excerpt, tasks)


STATED_FOR, TALKED_FOR = timedelta(days=400), timedelta(days=90)
"""How far back statements and conversations are looked at."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """The signals. `own` are the dimensions (`key`) that lines of the person's in the note speak of; `new` the edits
    that no commit names yet, up to the commit `up_to`; `made` the commits in which beliefs were written down, newest
    first; `silent` the number of answers on which the person said nothing."""

    signals: tuple[Sign, ...] = ()
    own: frozenset[tuple[str, str]] = frozenset()
    new: tuple[Seen, ...] = ()
    up_to: str = ""
    made: tuple[Commit, ...] = field(default=(), repr=False)
    silent: int = 0


def gather(vault: Vault, now: datetime, origin: TextOrigin, *, with_edits: bool = True) -> Gathered:
    """The signals of a vault; `with_edits` is the setting `memory.learn_from_edits`. Writes nothing."""
    made = tuple(
        each for each in commits(vault, path=vault.home.at(NOTE)) if each.tool == EDITS and each.actor != HUMAN
    )
    new: tuple[Seen, ...] = ()
    up_to = seen_up_to(made)
    if with_edits:
        new, up_to = lessons_since(vault, now, up_to, lambda path, data: bool(origin.source(path, data)))
    own = signals_of_note(vault, now.date())
    talk = talk_of(own_sessions(vault, _days(now, TALKED_FOR)))
    stated = load_entries(vault, notes_of_days(vault, ENTRIES, _days(now, STATED_FOR))[:MOST_ENTRIES])
    found = (
        *signals_of_entries(each for each in stated if is_stated_by_owner(each, origin)),
        *own,
        *signals_in_ledger(made, _undone(vault, made), vault.home),
        *signals_of_edits(new, vault.home),
        *signals_of_questions(vault),
        *talk.signals,
    )
    return Gathered(
        tuple(_wanted(vault, found)),
        frozenset(each.dimension.key for each in own),
        new,
        up_to,
        made,
        talk.silent,
    )


def _wanted(vault: Vault, signals: tuple[Sign, ...]) -> list[Sign]:
    """The signals without secrets, and without what the person wanted to be forgotten."""
    forgotten: Callable[[str], bool] = load_tombstones(vault).is_forgotten

    def may_be_named(each: Sign) -> bool:
        texts = filter(None, (each.dimension.topic, each.value, each.excerpt, each.evidence.quote))
        return all(vault.masked(words) == words and not forgotten(words) for words in texts)

    return [each for each in signals if may_be_named(each)]


def _undone(vault: Vault, made: tuple[Commit, ...]) -> frozenset[str]:
    """Those of these commits that were taken back."""
    if not made:
        return frozenset()
    later = commits(vault, path=vault.home.at(NOTE), since=made[-1].when)
    return frozenset(id for each in later for id in each.undoes)


def _days(now: datetime, span: timedelta) -> list[date]:
    return [now.date() - timedelta(days=back) for back in range(span.days, -1, -1)]
