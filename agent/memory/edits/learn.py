"""Learns from the person's edits of the last days: at most one commit a day, in the note of their preferences.

What was seen already is named by the last such commit, and what the person has refused by the history of the note, so
there is no other state. An edit with a secret, or with text by others, teaches nothing.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC

from agent.memory.blame import EDITS
from agent.memory.edits.lesson import Lesson, lessons_in
from agent.memory.edits.lessons_note import (
    NOTE,
    LessonPlace,
    Seen,
    identity,
    lesson_changes,
    parse_lines,
    quoted,
    section_of,
)
from agent.memory.edits.person_edits import person_edits
from agent.memory.forgetting.tombstones import load_tombstones
from agent.memory.profile.changes import Writing, propose_changes
from agent.vault.change import Outcome, Request, Stamp, actor_of
from agent.vault.history.commits import Commit
from agent.vault.history.find import commits
from agent.vault.history.trailers import HUMAN
from agent.vault.history.versions import versions
from agent.vault.store import Vault

_SEEN = re.compile(r"^Seen up to ([0-9a-f]{40,64})$", re.MULTILINE)
_MOST = 12
"""The most lessons of one edit: who rewrites a whole note does not teach a hundred things."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What is to be written: the requests (none: nothing), what was seen, and the commit up to which was looked."""

    requests: tuple[Request, ...] = ()
    seen: tuple[Seen, ...] = ()
    commits: tuple[str, ...] = ()
    up_to: str = ""


def learn_from_edits(
    writing: Writing,
    is_foreign: Callable[[str, bytes], bool],
    *,
    job: str = "",
) -> tuple[Learned, Outcome]:
    """Write down what the person's edits say, in one commit, if there is something new and today has no such commit
    yet. Raises what a transaction raises."""
    found = plan_lessons(writing, is_foreign)
    if not found.requests:
        return found, Outcome()
    count = len(set(zip(found.commits, (each.path for each in found.seen), strict=True)))
    subject = f"memory(edits): learned from {count} edit{'s' if count > 1 else ''} of the person"
    stamp = Stamp(actor_of(job), tool=EDITS)
    with writing.vault.transaction(subject, stamp, body=_body(found), masked=True) as change:
        change.requests += found.requests
    return found, change.outcome


def plan_lessons(writing: Writing, is_foreign: Callable[[str, bytes], bool]) -> Learned:
    """What would be written now; nothing if something was written today."""
    vault = writing.vault
    path, now = vault.home.at(NOTE), vault.clock.now()
    made = [each for each in commits(vault, path=path) if each.tool == EDITS and each.actor != HUMAN]
    if made and made[0].when.astimezone(now.tzinfo or UTC).date() >= now.date():
        return Learned()
    last = _SEEN.search(made[0].body) if made else None
    edits, up_to = person_edits(vault, now, last[1] if last else "", is_foreign)
    found = [
        (Seen(lesson, edit.path, edit.day), edit.commit)
        for edit in edits
        for lesson in lessons_in(edit.before, edit.after)[:_MOST]
    ]
    found = _without_secrets(vault, found) if found else []
    base = vault.read(path)
    if not found or vault.own_version(path) != base:
        return Learned()
    own, refused = _own_and_refused(vault, path, made, base or b"")
    text = (base or b"").decode("utf-8", "surrogateescape")
    seen = tuple(each for each, _ in found)
    changes = lesson_changes(text, seen, own, refused, LessonPlace(vault.home, writing.language))
    proposed = propose_changes(writing, changes)
    if not proposed.blocks:
        return Learned()
    return Learned(proposed.requests, seen, tuple(commit for _, commit in found), up_to)


def _without_secrets(vault: Vault, found: Sequence[tuple[Seen, str]]) -> list[tuple[Seen, str]]:
    """What was seen, but what would quote a secret, or something that the person wanted to be forgotten."""
    stones = load_tombstones(vault)

    def may_be_quoted(lesson: Lesson) -> bool:
        texts = (lesson.before, lesson.after, lesson.topic, lesson.value)
        return all(vault.masked(each) == each and not stones.is_forgotten(each) for each in texts)

    return [each for each in found if may_be_quoted(each[0].lesson)]


def _own_and_refused(
    vault: Vault, path: str, made: Sequence[Commit], now: bytes
) -> tuple[frozenset[str], frozenset[tuple[str, str, str]]]:
    """The lines that the program wrote last, and the lessons whose lines the person has changed or taken out: those
    that one of the program's commits left and that were gone before the next one, or are gone now."""
    if not made:
        return frozenset(), frozenset()
    asked = [(each.id, path) for each in made] + [(f"{each.id}^", path) for each in made[:-1]]
    found = [_rows(each.data) if each is not None else frozenset[str]() for each in versions(vault, asked)]
    left, met = found[: len(made)], [_rows(now), *found[len(made) :]]
    gone = (row for wrote, then in zip(left, met, strict=True) for row in wrote - then)
    return left[0] & met[0], frozenset(identity(each.lesson) for each in parse_lines(gone))


def _rows(data: bytes) -> frozenset[str]:
    return frozenset(section_of(data.decode("utf-8", "surrogateescape")))


def _body(found: Learned) -> str:
    """The evidence of each lesson: the note, the commit and what was changed."""
    rows = []
    for each, commit in zip(found.seen, found.commits, strict=True):
        change = " → ".join(filter(None, map(quoted, (each.lesson.before, each.lesson.after))))
        lesson = each.lesson
        rows.append(f"- {lesson.kind}, {lesson.topic}, {lesson.value}: {each.path} {commit[:12]} {change}")
    return "\n".join([*rows, "", f"Seen up to {found.up_to}"])
