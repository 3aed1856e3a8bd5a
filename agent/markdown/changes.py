"""Changes between two versions of a note, as a reader sees them: a task ticked, a tag added, a section rewritten.

Compares the content, not the lines: a task that only moved is no change, and neither is a link with another text.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import TypeAlias, assert_never

from agent.dataclass import dataclass
from agent.markdown import contents
from agent.markdown.contents import Contents
from agent.markdown.note import Note
from agent.markdown.passages import heading_paths
from agent.markdown.tasks import TaskBox
from agent.markdown.yaml_write import Value, is_list, same
from agent.texts import Sentence

TOP = ("(top)",)
_TAG_KEYS = ("tags", "tag")


@dataclass(frozen=True, slots=True)
class TaskTicked:
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class TaskUnticked:
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class TaskMarked:
    """The character in the box changed without ticking or unticking the task."""

    text: str
    state: str
    line: int


@dataclass(frozen=True, slots=True)
class TaskAdded:
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class TaskRemoved:
    text: str


@dataclass(frozen=True, slots=True)
class TagAdded:
    name: str


@dataclass(frozen=True, slots=True)
class TagRemoved:
    name: str


@dataclass(frozen=True, slots=True)
class LinkAdded:
    target: str


@dataclass(frozen=True, slots=True)
class LinkRemoved:
    target: str


@dataclass(frozen=True, slots=True)
class PropertySet:
    """`old` is None for a new key, and also for one that was empty."""

    key: str
    old: Value
    new: Value


@dataclass(frozen=True, slots=True)
class PropertyRemoved:
    key: str
    old: Value


@dataclass(frozen=True, slots=True)
class SectionAdded:
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SectionRemoved:
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SectionChanged:
    path: tuple[str, ...]


NoteChange: TypeAlias = (
    TaskTicked
    | TaskUnticked
    | TaskMarked
    | TaskAdded
    | TaskRemoved
    | TagAdded
    | TagRemoved
    | LinkAdded
    | LinkRemoved
    | PropertySet
    | PropertyRemoved
    | SectionAdded
    | SectionRemoved
    | SectionChanged
)


def compare_notes(old: Note, new: Note) -> tuple[NoteChange, ...]:
    """The changes from one version to the other: properties, tasks, tags, links, then sections; never fails.

    A section's text is compared without its tasks, which have changes of their own. Text above any heading is the
    section `(top)`. Properties are not compared when either header cannot be parsed.
    """
    if old.data == new.data:
        return ()
    before, after = contents.parse_contents(old), contents.parse_contents(new)
    return (
        *_properties(old, new, before, after),
        *_tasks(before.tasks, after.tasks),
        *_names(before, after),
        *_sections(before, after),
    )


def format_changes(changes: Sequence[NoteChange]) -> list[Sentence]:
    """One line of text for each change."""
    return [_line(change) for change in changes]


def _properties(old: Note, new: Note, before: Contents, after: Contents) -> Iterator[NoteChange]:
    if old.problem is not None or new.problem is not None:
        return
    tags_differ = _tag_keys(before) != _tag_keys(after)
    for key, value in new.header.items():
        known = key in old.header and same(old.header[key], value)
        if not known and not (key in _TAG_KEYS and tags_differ):
            yield PropertySet(key, old.header.get(key), value)
    for key, value in old.header.items():
        if key not in new.header and not (key in _TAG_KEYS and tags_differ):
            yield PropertyRemoved(key, value)


def _tasks(old: Sequence[TaskBox], new: Sequence[TaskBox]) -> Iterator[NoteChange]:
    """The changes of tasks, paired by block id, else by text; equal tasks are paired first and yield no change."""
    equal = Counter((_identity(task), task.state) for task in old) & Counter(
        (_identity(task), task.state) for task in new
    )
    waiting: defaultdict[str, list[TaskBox]] = defaultdict(list)
    for task in _without(old, equal):
        waiting[_identity(task)].append(task)
    for task in _without(new, equal):
        partners = waiting[_identity(task)]
        if not partners:
            yield TaskAdded(task.text, task.line)
        elif partners.pop(0).done == task.done:
            yield TaskMarked(task.text, task.state, task.line)
        else:
            yield TaskTicked(task.text, task.line) if task.done else TaskUnticked(task.text, task.line)
    for partners in waiting.values():
        yield from (TaskRemoved(task.text) for task in partners)


def _identity(task: TaskBox) -> str:
    return f"^{task.block}" if task.block else task.text


def _without(tasks: Sequence[TaskBox], equal: Counter[tuple[str, str]]) -> Iterator[TaskBox]:
    left = Counter(equal)
    for task in tasks:
        key = (_identity(task), task.state)
        if left[key] > 0:
            left[key] -= 1
        else:
            yield task


def _names(before: Contents, after: Contents) -> Iterator[NoteChange]:
    old_tags, new_tags = _tag_keys(before), _tag_keys(after)
    yield from (TagAdded(name) for key, name in new_tags.items() if key not in old_tags)
    yield from (TagRemoved(name) for key, name in old_tags.items() if key not in new_tags)
    old_links, new_links = _targets(before), _targets(after)
    yield from (LinkAdded(target) for target in new_links if target not in old_links)
    yield from (LinkRemoved(target) for target in old_links if target not in new_links)


def _tag_keys(found: Contents) -> dict[str, str]:
    names: dict[str, str] = {}
    for tag in found.tags:
        names.setdefault(tag.casefold(), tag)
    return names


def _targets(found: Contents) -> dict[str, None]:
    """The link targets with their anchors, in order, without duplicates."""
    return dict.fromkeys(f"{link.target}#{link.anchor}" if link.anchor else link.target for link in found.links)


def _sections(before: Contents, after: Contents) -> Iterator[NoteChange]:
    old, new = _texts(before), _texts(after)
    for path, text in new.items():
        if path not in old:
            yield SectionAdded(path)
        elif old[path] != text:
            yield SectionChanged(path)
    yield from (SectionRemoved(path) for path in old if path not in new)


def _texts(found: Contents) -> dict[tuple[str, ...], list[str]]:
    """The lines of each section by path, without tasks and blank lines; sections with equal paths are joined."""
    body = found.body
    tasks = {task.line - body.first for task in found.tasks}
    starts = [(0, TOP), *heading_paths(body)]
    texts: dict[tuple[str, ...], list[str]] = {}
    for number, (start, path) in enumerate(starts):
        end = starts[number + 1][0] if number + 1 < len(starts) else len(body.lines)
        lines = [line for at in range(start, end) if at not in tasks and (line := body.lines[at].rstrip())]
        if path != TOP or lines:
            texts.setdefault(path, []).extend(lines)
    return texts


def _line(change: NoteChange) -> Sentence:
    match change:
        case PropertySet(key, None, new):
            return _change_sentence(key, _value_text(new))
        case PropertySet(key, old, new):
            return Sentence("{key}: {old} → {new}", key=key, old=_value_text(old), new=_value_text(new))
        case PropertyRemoved(key, old):
            return Sentence("{key} removed (was {words})", key=key, words=_value_text(old))
        case TagAdded(name) | TagRemoved(name):
            return _change_sentence(_WHAT[type(change)], f"#{name}")
        case LinkAdded(words) | LinkRemoved(words):
            return _change_sentence(_WHAT[type(change)], words)
        case SectionAdded(path) | SectionRemoved(path) | SectionChanged(path):
            return _change_sentence(_WHAT[type(change)], Sentence("(top)") if path == TOP else " › ".join(path))
        case TaskTicked(words) | TaskUnticked(words) | TaskMarked(words) | TaskAdded(words) | TaskRemoved(words):
            return _change_sentence(_WHAT[type(change)], words)
        case _:
            assert_never(change)


_EMPTY = Sentence("(empty)")


def _change_sentence(what: str, words: str) -> Sentence:
    return Sentence("{problem}: {words}", problem=what, words=words)


_WHAT = {
    TaskTicked: Sentence("ticked"),
    TaskUnticked: Sentence("unticked"),
    TaskMarked: Sentence("marked"),
    TaskAdded: Sentence("task added"),
    TaskRemoved: Sentence("task removed"),
    TagAdded: Sentence("tag added"),
    TagRemoved: Sentence("tag removed"),
    LinkAdded: Sentence("link added"),
    LinkRemoved: Sentence("link removed"),
    SectionAdded: Sentence("section added"),
    SectionRemoved: Sentence("section removed"),
    SectionChanged: Sentence("section changed"),
}


def _value_text(value: Value) -> str:
    if is_list(value):
        return ", ".join(map(_value_text, value)) or _EMPTY
    text = {True: "true", False: "false"}[value] if isinstance(value, bool) else str("" if value is None else value)
    return " ".join(text.split())[:80] or _EMPTY
