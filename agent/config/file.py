"""One settings file: parse it into flat, dotted keys, and replace it atomically.

Only a subset of YAML is allowed: no aliases, no tags, no second document, no duplicate key, and every value is text
until `values` parses it. `load` interprets the keys, `edit` changes them.
"""

import os
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from tempfile import mkstemp

import yaml

from agent.config.private import check_file, make_folder
from agent.dataclass import dataclass
from agent.errors import ConfigError
from agent.platform.here import platform

MAX_DEPTH = 8
BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class SettingLine:
    """A value in the file: its text, or None for a list; its line, from 1; its position as offsets into the text."""

    text: str | None
    line: int
    start: int
    end: int
    key_start: int
    block: bool = False
    """True for a `|` or `>` scalar, whose position ends after its last line break."""

    items: tuple[str, ...] = ()
    """The words of a list; nothing of it that is no word."""


@dataclass(frozen=True, slots=True)
class Section:
    """A mapping in the file, by its dotted name ("" is the whole file)."""

    column: int
    """The column of its keys, from 0."""

    flow: bool
    """True if written as `{…}`."""


@dataclass(slots=True)
class Content:
    """The settings and sections of one file, by dotted key."""

    entries: dict[str, SettingLine] = field(default_factory=dict)
    sections: dict[str, Section] = field(default_factory=dict)


def parse_settings(text: str, name: str) -> Content:
    """The keys in `text`; `name` is the file's, for messages. Offsets count from after a byte order mark.

    Raises `ConfigError` that names file and line.
    """
    content = Content()
    try:
        events = _checked(yaml.parse(text.removeprefix(BOM), Loader=yaml.CSafeLoader), name)
        for event in events:
            if isinstance(event, yaml.MappingStartEvent):
                _mapping(events, content, "", event, name, 0)
            elif isinstance(event, yaml.ScalarEvent) and event.value == "" and event.style is None:
                continue
            elif isinstance(event, yaml.NodeEvent):
                raise ConfigError(
                    "{name}:{line}: expected `section:` and below it `  key: value`", name=name, line=_line(event)
                )
    except yaml.YAMLError as error:
        raise not_yaml(error, name) from error
    return content


def not_yaml(error: yaml.YAMLError, name: str) -> ConfigError:
    """The error for a settings file that is not YAML, with its line if known."""
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        return ConfigError(
            "{name}:{line}: not YAML: {problem}", name=name, line=mark.line + 1 if mark else 1, problem=error.problem
        )
    return ConfigError("{name}: not YAML: {problem}", name=name, problem=str(error).splitlines()[0])


def _checked(events: Iterator[yaml.Event], name: str) -> Iterator[yaml.Event]:
    """The same events; raises `ConfigError` for aliases, tags and a second document."""
    documents = 0
    for event in events:
        documents += isinstance(event, yaml.DocumentStartEvent)
        anchor, tag = getattr(event, "anchor", None), getattr(event, "tag", None)
        if isinstance(event, yaml.AliasEvent) or anchor is not None:
            raise ConfigError(
                "{name}:{line}: aliases (`&` and `*`) are not allowed in settings", name=name, line=_line(event)
            )
        if tag is not None:
            raise ConfigError("{name}:{line}: tags (`!`) are not allowed in settings", name=name, line=_line(event))
        if documents > 1:
            raise ConfigError(
                "{name}:{line}: a second document (`---`) is not allowed in settings", name=name, line=_line(event)
            )
        yield event


def _mapping(
    events: Iterator[yaml.Event], content: Content, prefix: str, start: yaml.MappingStartEvent, name: str, depth: int
) -> None:
    if depth > MAX_DEPTH:
        raise ConfigError("{name}:{line}: sections are nested too deeply", name=name, line=_line(start))
    content.sections[prefix] = Section(_start(start)[1], bool(start.flow_style))
    for key in events:
        if isinstance(key, yaml.MappingEndEvent):
            return
        if not isinstance(key, yaml.ScalarEvent):
            raise ConfigError("{name}:{line}: a key must be one word", name=name, line=_line(key))
        dotted = f"{prefix}.{key.value}" if prefix else key.value
        if dotted in content.entries or dotted in content.sections:
            raise ConfigError(
                "{name}:{line}: {key} stands here a second time", name=name, line=_line(key), key=ascii(dotted)[1:-1]
            )
        value = next(events)
        if isinstance(value, yaml.MappingStartEvent):
            _mapping(events, content, dotted, value, name, depth + 1)
            continue
        end, text, items = _end(value), None, tuple[str, ...]()
        if isinstance(value, yaml.ScalarEvent):
            text = "" if value.style is None and value.value in ("~", "null") else value.value
        else:
            end, items = _list(events)
        block = getattr(value, "style", None) in ("|", ">")
        place = (_start(value)[2], end, _start(key)[2])
        content.entries[dotted] = SettingLine(text, _line(key), *place, block, items)


def _list(events: Iterator[yaml.Event]) -> tuple[int, tuple[str, ...]]:
    """The end offset of a list that has just begun, and its words. Few settings may be one, but a file may hold any."""
    depth, words = 1, list[str]()
    for event in events:
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth == 0:
            return _end(event), tuple(words)
        if depth == 1 and isinstance(event, yaml.ScalarEvent):
            words.append(event.value)
    return 0, ()


def _start(event: yaml.Event) -> tuple[int, int, int]:
    """Line and column, from 0, and offset."""
    mark = event.start_mark
    assert mark is not None  # the parser sets it on every event; only its type is optional
    return mark.line, mark.column, mark.index


def _end(event: yaml.Event) -> int:
    assert event.end_mark is not None
    return event.end_mark.index


def _line(event: yaml.Event) -> int:
    return _start(event)[0] + 1


def replace_file(path: Path, text: str) -> None:
    """Replace a settings file atomically and sync it to disk; a new file is readable by its owner only. Raises
    `UserError` for what is no file."""
    path = path.resolve()  # a person may keep the file elsewhere and link to it
    check_file(path)
    make_folder(path.parent)
    descriptor, temporary = mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(text.encode("utf-8"))
            stream.flush()
            if path.exists():
                Path(temporary).chmod(path.stat().st_mode & 0o777)
            platform().flush(descriptor)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        platform().flush(folder)
    finally:
        os.close(folder)
