"""The fields of a model's answer: YAML in a code block or as the whole reply, read without aliases and tags, with keys
in English or Chinese, however they are spaced and numbered. A text that needs quotes and has none is mended."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date
from typing import TypeAlias

from agent.errors import BadNote
from agent.markdown.yaml_read import parse_header
from agent.markdown.yaml_write import Value

Fields: TypeAlias = Mapping[str, Value]
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([a-z]*)[ \t]*\n(.*?)^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)
_OPEN_FENCE = re.compile(r"\A\s*(?:`{3,}|~{3,})[ \t]*[a-z]*[ \t]*\n")
_NUMBER = re.compile(r"^(?:\d{1,2}[.、)）]\s*|[一二三四五][、.]\s*)")
_BARE = re.compile(
    r"^((?:[ \t]*- )?[ \t]*[^\s:#\"'\[{-][^:\n\"']{0,40}:[ \t]+)([^\s\"'\[{|>&*!].*(?:: | #).*)$", re.MULTILINE
)
"""A line with a key and a text that YAML would take for another key or a comment."""
_BLANKS = re.compile(r"[\s_-]+")
_DEEPEST = 2
"""How many keys around the whole answer are looked through, such as `reflection:`."""


def fields_in(reply: str, names: Mapping[str, str], problems: list[str]) -> Fields | None:
    """The fields of the answer, by the `names` of their keys; None for an answer that cannot be read, and then
    `problems` says why."""
    for text in _candidates(reply.encode("utf-8", "replace").decode()):
        try:
            fields = named(_inner(_parsed(text), names), names)
        except BadNote as error:
            problems.append(f"line {error.line}: {error.message}")
            continue
        if fields:
            return fields
        problems.append(f"none of the keys {', '.join(names)} is in it")
    return None


def named(fields: Fields, names: Mapping[str, str]) -> dict[str, Value]:
    """The values by the names of their keys, without unknown keys; of two keys of one name the first counts."""
    known = {word: name for name, words in names.items() for word in words.split()}
    found: dict[str, Value] = {}
    for key, value in fields.items():
        name = known.get(_BLANKS.sub("", _NUMBER.sub("", str(key).strip())).casefold())
        if name is not None:
            found.setdefault(name, value)
    return found


def as_text(value: Value) -> str:
    """A value as text; the parts of a list or a mapping one after the other."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case Mapping():
            return "; ".join(f"{key}: {as_text(each)}" for key, each in value.items())
        case tuple():
            return "; ".join(as_text(each) for each in value)
        case date():
            return value.isoformat()
        case _:
            return str(value)


def _parsed(text: str) -> Fields:
    """The fields of YAML, also if a text in it that needs quotes has none; raises `BadNote` for the text as it came."""
    try:
        return {entry.key: entry.value for entry in parse_header(text, 1)}
    except BadNote:
        mended = _BARE.sub(lambda found: found[1] + json.dumps(found[2].strip(), ensure_ascii=False), text)
        with suppress(BadNote):
            return {entry.key: entry.value for entry in parse_header(mended, 1)}
        raise


def _candidates(reply: str) -> Iterator[str]:
    """The texts that may be the YAML, the likeliest first."""
    blocks = [(found[2], found[3]) for found in _FENCE.finditer(f"{reply}\n")]
    yield from (text for name, text in blocks if name in ("yaml", "yml"))
    yield from (text for name, text in blocks if name not in ("yaml", "yml"))
    if not blocks:  # an answer that was cut off has no end of its block
        yield _OPEN_FENCE.sub("", reply).strip().removeprefix("---").removesuffix("---").strip("\n")


def _inner(fields: Fields, names: Mapping[str, str]) -> Fields:
    """The fields inside keys that stand around the whole answer."""
    for _ in range(_DEEPEST):
        if len(fields) != 1 or named(fields, names):
            break
        (inner,) = fields.values()
        if not isinstance(inner, Mapping):
            break
        fields = inner
    return fields
