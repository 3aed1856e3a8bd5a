"""The tasks that are not done: unticked boxes in the person's notes, and tasks that wait; each with its last touch."""

import re
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime, time
from pathlib import Path

from agent.clock import in_clock_zone, time_shown
from agent.growth.patterns.activity import OpenBox
from agent.markdown.blocks import parse_body
from agent.markdown.note import Note
from agent.markdown.tasks import find_tasks
from agent.memory import daily
from agent.schedule.goal_notes import is_goal
from agent.schedule.task_notes import load_tasks
from agent.texts import in_all_languages
from agent.vault.find import notes_with_line
from agent.vault.folders import DAILY, OWN_NOTES, is_template
from agent.vault.history.blame import blame
from agent.vault.history.commits import read_commits
from agent.vault.store import Vault

_OPEN, _TICKED = r"^[>[:space:]]*[-*+][[:space:]]+\[ \]", r"^[>[:space:]]*[-*+][[:space:]]+\[[xX]\]"
_NOTES, _TICKED_NOTES = 60, 300
"""The most notes that are read for open boxes and for ticked ones, those changed last."""
_OLD = 120 * 86_400
"""Seconds after which a note that nobody has changed is left alone: its boxes are history."""
_OPINIONS = "|".join(
    re.escape(word)
    for kind in ("pattern", "skill_feedback")
    for opinion in ("helpful", "not_helpful")
    for word in in_all_languages(f"{kind}.{opinion}")
)
_OPINION = re.compile(rf"({_OPINIONS})( · [0-9a-z]{{6}})?")
"""A box that asks what its person thinks of a pattern; with a code, of a notice."""


def open_boxes(vault: Vault, bulk: Collection[str]) -> tuple[OpenBox, ...]:
    """The open tasks. `bulk` are commits that brought many notes at once: they say nothing of when a box was made."""
    found = [*_boxes(vault, frozenset(bulk)), *_waiting(vault)]
    return tuple(sorted(found, key=lambda each: (each.since, each.link, each.text)))


def ticked_texts(vault: Vault) -> tuple[str, ...]:
    """The texts of the boxes that are ticked."""
    texts: dict[str, None] = {}
    for path in _newest(vault, notes_with_line(vault, _TICKED), _TICKED_NOTES):
        note = Note.parse(vault.own_version(path) or b"")
        tasks = find_tasks(parse_body(note.body, note.body_line))
        texts.update(dict.fromkeys(each.text for each in tasks if each.done))
    return tuple(texts)


def _boxes(vault: Vault, bulk: frozenset[str]) -> Iterator[OpenBox]:
    for path in _newest(vault, notes_with_line(vault, _OPEN), _NOTES):
        data = vault.own_version(path)
        note = Note.parse(data or b"")
        if data is None or is_goal(path, note, vault.home):
            continue
        tasks = find_tasks(parse_body(note.body, note.body_line))
        boxes = [each for each in tasks if each.state == " " and not _OPINION.fullmatch(each.text)]
        times = _times(vault, path, bulk) if boxes else {}
        lines = data.decode("utf-8", "surrogateescape").splitlines()
        for box in boxes:
            since = max(filter(None, (times.get(lines[box.line - 1]), _day(vault, path))), default=None)
            if since is not None:
                yield OpenBox(box.text, _link(vault, path), since)


def _times(vault: Vault, path: str, bulk: frozenset[str]) -> dict[str, datetime]:
    """When each line of a note was written, by its text."""
    rows = [(line, commit) for line, commit in blame(vault, path) if commit not in bulk]
    made = {each.id: each.when for each in read_commits(vault, sorted({commit for _, commit in rows}))}
    return {line: made[commit] for line, commit in rows if commit in made}


def _day(vault: Vault, path: str) -> datetime | None:
    day = vault.home.day_of(path)
    return in_clock_zone(datetime.combine(day, time(12)), vault.clock.now()) if day else None


def _link(vault: Vault, path: str) -> str:
    day = vault.home.day_of(path)
    return daily.link_to(day, vault.home) if day else f"[[{path.removesuffix('.md')}]]"


def _waiting(vault: Vault) -> Iterator[OpenBox]:
    for task in load_tasks(vault, done=False).waiting:
        if task.created_at is not None:
            since = max(task.created_at, task.due or task.created_at)
            yield OpenBox(task.title, f"[[{task.path.removesuffix('.md')}]]", since)


def _newest(vault: Vault, paths: Iterable[str], most: int) -> list[str]:
    """The person's notes among these, those changed last first."""
    now = vault.clock.now().timestamp()
    own = [
        path
        for path in paths
        if (vault.home.row(path) == OWN_NOTES or vault.home.holds(path, DAILY)) and not is_template(path)
    ]
    changed = [(time_shown(vault.clock, Path(vault.place.root, path).stat().st_mtime), path) for path in own]
    return [path for at, path in sorted(changed, key=lambda each: (-each[0], each[1])) if now - at < _OLD][:most]
