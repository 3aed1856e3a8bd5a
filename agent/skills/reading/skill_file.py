"""Strict parser of a `SKILL.md`: the open Agent Skills format, with extension keys for triggers, chains and limits.

Never raises: every problem is returned with its line, and the skill is None if it cannot be used. Checking the named
skills is left to `skill`, listing other files to `loading`.
"""

import unicodedata
from functools import lru_cache
from types import MappingProxyType
from typing import cast, get_args

from agent.config.values import meant
from agent.dataclass import dataclass
from agent.errors import BadNote
from agent.markdown import note
from agent.markdown.yaml_write import Value, is_list
from agent.skills.reading.header import EXTENSIONS, HeaderFields, parse_triggers
from agent.skills.reading.skill import (
    FILE,
    PRIORITY,
    ChainStep,
    OnFailure,
    Product,
    Skill,
    SkillProblem,
    SkillSource,
)

FILE_BYTES = 256 * 1024
"""The most bytes of a `SKILL.md`; long parts belong in `references/`."""
HEADER_BYTES = 8 * 1024
_NAME, _DESCRIPTION, _COMPATIBILITY = 64, 1_024, 500
MOST = 20
_KEY = "chain"
_KEYS = frozenset(
    (
        *EXTENSIONS,
        *("name", "description", "license", "compatibility", "metadata", "allowed-tools"),
        *("version_history", "version", "tags", "type", "status", "created", "updated", "author"),
    )
)
"""The keys of a skill, and usual ones that other programs and people write beside them."""
_KNOWN = ("skill", "input_from", "output_as", "params", "check", "on_failure")


@dataclass(frozen=True, slots=True)
class ParsedSkill:
    """The skill (None if it cannot be used) and all problems of its file."""

    skill: Skill | None
    problems: tuple[SkillProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class SkillFolder:
    """The folder of a skill: its name, its source, the displayed path of its `SKILL.md`, its other files."""

    name: str
    source: SkillSource
    path: str
    files: tuple[str, ...] = ()
    size: int = 0


@lru_cache(maxsize=32)
def parse_skill(data: bytes, where: SkillFolder) -> ParsedSkill:
    """The skill in the bytes of a `SKILL.md`; the last ones are remembered, for who opens several vaults."""
    if data.startswith(note.UTF16):
        return _unusable(where, 1, f"{FILE} is UTF-16 text; save it as UTF-8")
    parts = note.split(data)
    if not parts.opening:
        return _unusable(where, 1, f"{FILE} must begin with a header between two lines of `---`")
    if len(parts.header) > HEADER_BYTES:
        return _unusable(where, 2, f"the header is longer than {HEADER_BYTES // 1024} KB; move the long part below it")
    try:
        body = parts.body.decode("utf-8")
        fields = HeaderFields.of(where.path, parts, note.entries(parts))
    except UnicodeDecodeError as error:
        line = 3 + parts.header.count(b"\n") + parts.body.count(b"\n", 0, error.start)
        return _unusable(where, line, "the text is not UTF-8; save it as UTF-8")
    except BadNote as error:
        return _unusable(where, error.line, error.message + (f"; {error.hint}" if error.hint else ""))
    skill = _skill(fields, where, body.strip("\r\n"), 3 + parts.header.count(b"\n") + _blank_lines(body))
    return ParsedSkill(None if fields.broken else skill, tuple(fields.problems))


def _unusable(where: SkillFolder, line: int, reason: str) -> ParsedSkill:
    return ParsedSkill(None, (SkillProblem(where.path, line, reason),))


def _blank_lines(body: str) -> int:
    return body[: len(body) - len(body.lstrip("\r\n"))].count("\n")


def _skill(fields: HeaderFields, where: SkillFolder, body: str, body_line: int) -> Skill:
    name = _name(fields, where.name)
    chain = parse_steps(fields)
    rate = fields.number("success_rate", -1.0, 0.0, 1.0)
    for key in fields.entries:
        if near := key not in _KEYS and meant(key, _KEYS):
            fields.add_remark(key, f"{ascii(key)[1:-1]} is no key of a skill and left unread; did you mean {near}?")
    fields.text("license")  # both are checked only; the values stay in the file
    fields.text("compatibility", _COMPATIBILITY)
    return Skill(
        name,
        _description(fields),
        body,
        where.source,
        where.path,
        body_line,
        metadata=_metadata(fields),
        allowed_tools=_allowed_tools(fields),
        triggers=parse_triggers(fields),
        conditions=_listed(fields, "trigger_conditions"),
        priority=int(fields.number("priority", PRIORITY, 1, 10)),
        exclusive_group=_word(fields, "exclusive_group"),
        prerequisites=_listed(fields, "prerequisites"),
        max_tokens=int(fields.number("max_tokens", 0, 1, 100_000)),
        cooldown=fields.number("cooldown", 0.0, 0.0, 86_400.0 * 366),
        product=_product(fields),
        chain=chain,
        success_rate=rate if rate >= 0 else None,
        lines=MappingProxyType({key: entry.line for key, entry in fields.entries.items()}),
        files=where.files,
        size=where.size,
        is_always=_activation(fields),
    )


def _name(fields: HeaderFields, folder: str) -> str:
    name = unicodedata.normalize("NFKC", fields.text("name"))
    reason = name_problem(name)
    if "name" not in fields:
        fields.add_error("name", "name is missing")
    elif reason:
        fields.add_error("name", reason)
    elif name != unicodedata.normalize("NFKC", folder):
        fields.add_error("name", f"name is {name}, but its folder is {ascii(folder)[1:-1]}; they must be the same")
    return name


def name_problem(name: str) -> str:
    """The reason why this cannot be a skill's name; empty if it can."""
    if not 1 <= len(name) <= _NAME:
        return f"name must have between 1 and {_NAME} characters"
    if not all(c == "-" or c.isalnum() for c in name) or name != name.lower():
        return "name may have small letters, digits and hyphens only"
    if name.startswith("-") or name.endswith("-") or "--" in name:
        return "name must not begin or end with a hyphen, nor have two in a row"
    return ""


def _description(fields: HeaderFields) -> str:
    text = fields.text("description", _DESCRIPTION)
    if not text and not fields.broken:
        fields.add_error("description", "description is missing: say what the skill does and when to use it")
    return text


def _metadata(fields: HeaderFields) -> MappingProxyType[str, str]:
    found = fields.mapping("metadata") or {}
    return MappingProxyType({key: _written(value) for key, value in found.items() if key not in EXTENSIONS})


def _written(value: Value) -> str:
    return "" if value is None else str(value)


def _allowed_tools(fields: HeaderFields) -> tuple[str, ...] | None:
    """The tools that it may use: a list, or words separated by spaces or commas; `Bash(git *)` is one word."""
    value = fields.value("allowed-tools")
    if value is None and "allowed-tools" not in fields.entries:
        return None
    texts = fields.texts("allowed-tools", value)
    words = [word for text in texts for word in ([text] if is_list(value) else _words(text))]
    return tuple(dict.fromkeys(words))


def _words(text: str) -> list[str]:
    words, depth, word = [], 0, ""
    for c in text:
        depth += (c == "(") - (c == ")")
        if depth <= 0 and (c.isspace() or c == ","):
            words.append(word)
            word = ""
        else:
            word += c
    return [each for each in [*words, word] if each]


def _listed(fields: HeaderFields, key: str) -> tuple[str, ...]:
    value = fields.value(key)
    if value is not None and not is_list(value):
        fields.add_remark(key, f"{key} is not a list, so it is left unread")
        return ()
    return fields.texts(key, value)


def _activation(fields: HeaderFields) -> bool:
    value = _word(fields, "activation")
    if value not in {"", "offered", "always"}:
        fields.add_remark("activation", "activation is offered or always; it is left unread")
    return value == "always"


def _word(fields: HeaderFields, key: str) -> str:
    value = fields.value(key)
    if isinstance(value, list | tuple | dict):
        fields.add_remark(key, f"{key} is not a word, so it is left unread")
        return ""
    return fields.text(key, _NAME)


def _product(fields: HeaderFields) -> Product | None:
    found = fields.mapping("output")
    if found is None:
        return None
    format_, kind = (str(found.get(name) or "") for name in ("format", "artifact_type"))
    if max(len(format_), len(kind)) > _NAME:
        fields.add_remark("output", f"output names something of more than {_NAME} characters, so it is left unread")
        return None
    return Product(format_, found.get("artifacts") is True, kind)


def parse_steps(fields: HeaderFields) -> tuple[ChainStep, ...]:
    """The steps in order; empty without a chain. Errors are added to `fields`."""
    value = fields.value(_KEY)
    if value is None:
        return ()
    if not is_list(value):
        fields.add_remark(_KEY, "chain is not a list of steps, so it is left unread")
        return ()
    if not 1 <= len(value) <= MOST:
        fields.add_error(_KEY, f"chain must have between 1 and {MOST} steps")
        return ()
    return tuple(step for number, item in enumerate(value, 1) if (step := _step(fields, number, item)) is not None)


def _step(fields: HeaderFields, number: int, value: Value) -> ChainStep | None:
    name = f"step {number} of the chain"
    if isinstance(value, str):
        value = {"skill": value}
    found = dict(fields.pairs(_KEY, name, value))
    unknown = [key for key in found if key not in _KNOWN]
    if unknown:
        fields.add_error(
            _KEY, f"{name} has the unknown key {ascii(unknown[0])[1:-1]}; known: {', '.join(_KNOWN)}", unknown[0]
        )
    skill = _text(fields, name, "skill", found.get("skill"))
    if not skill:
        fields.add_error(_KEY, f"{name} names no skill")
        return None
    wish = _text(fields, name, "on_failure", found.get("on_failure")) or "stop"
    if wish not in get_args(OnFailure):
        fields.add_error(_KEY, f"on_failure of {name} must be one of {', '.join(get_args(OnFailure))}", wish)
    return ChainStep(
        skill,
        fields.texts(_KEY, found.get("input_from"), f"input_from of {name}"),
        _text(fields, name, "output_as", found.get("output_as")),
        tuple(
            (key, ", ".join(fields.texts(_KEY, item, f"params.{key} of {name}")))
            for key, item in fields.pairs(_KEY, f"params of {name}", found.get("params"))
        ),
        _text(fields, name, "check", found.get("check")),
        cast(OnFailure, wish),
    )


def _text(fields: HeaderFields, step: str, key: str, value: Value) -> str:
    texts = fields.texts(_KEY, value, f"{key} of {step}")
    if len(texts) > 1:
        fields.add_error(_KEY, f"{key} of {step} must be one text")
    return texts[0] if texts else ""
