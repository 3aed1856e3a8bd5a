"""The keys of a `SKILL.md` header as typed values, its triggers among them; every error is collected with its key."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from types import MappingProxyType

from agent.config.values import meant
from agent.dataclass import dataclass
from agent.markdown.note import Parts, text_of
from agent.markdown.yaml_read import HeaderEntry
from agent.markdown.yaml_write import Value, is_list
from agent.skills.reading.patterns import (
    MOST,
    SIZE_TOGETHER,
    BadPattern,
    Intent,
    TaskPattern,
    compile_pattern,
    normalize,
)
from agent.skills.reading.skill import THRESHOLD, SkillProblem, Triggers

LONGEST_LIST = 200
LONGEST_TEXT = 2_000
"""The most characters of any text in an extension key."""


EXTENSIONS: Mapping[str, type | tuple[type, ...]] = MappingProxyType(
    {
        **dict.fromkeys(("triggers", "output"), Mapping),
        **dict.fromkeys(("chain", "trigger_conditions", "prerequisites"), Sequence),
        **dict.fromkeys(("exclusive_group", "activation"), str),
        **dict.fromkeys(("priority", "max_tokens", "cooldown", "success_rate"), (int, float)),
    }
)
"""The keys that are no part of the format, with the types of their values: in `metadata`, another program may have a
key of that name for something else."""


def _in_metadata(metadata: HeaderEntry | None, header: Sequence[str]) -> Iterator[tuple[str, HeaderEntry]]:
    """The extension keys in a header's `metadata`."""
    found = metadata.value if metadata is not None else None
    if metadata is None or not isinstance(found, Mapping):
        return
    for key, value in found.items():
        is_word = isinstance(value, str) and EXTENSIONS.get(key) is not str
        if key in EXTENSIONS and isinstance(value, EXTENSIONS[key]) and not is_word:
            at = next(
                (at for at in range(metadata.line - 1, len(header)) if header[at].lstrip().startswith(f"{key}:")), None
            )
            line = metadata.line if at is None else at + 2
            yield key, replace(metadata, key=key, node=replace(metadata.node, value=value), line=line)


@dataclass(slots=True)
class HeaderFields:
    """The keys of one header. `problems` grows while keys are read; if `broken`, the skill cannot be used."""

    path: str
    entries: Mapping[str, HeaderEntry]
    header: tuple[str, ...]
    problems: list[SkillProblem] = field(default_factory=list)
    broken: bool = False

    @classmethod
    def of(cls, path: str, parts: Parts, entries: tuple[HeaderEntry, ...]) -> "HeaderFields":
        """The fields of a parsed header. The extension keys may stand in `metadata`, where the format has room for
        them, or beside it."""
        header = tuple(text_of(parts.header).split("\n"))
        found = {entry.key: entry for entry in entries}
        return cls(path, {**dict(_in_metadata(found.get("metadata"), header)), **found}, header)

    def __contains__(self, key: str) -> bool:
        return self.value(key) is not None

    def value(self, key: str) -> Value:
        entry = self.entries.get(key)
        return entry.value if entry is not None else None

    def line(self, key: str, inside: str = "") -> int:
        """The line of a key, or of `inside` in its value if it is found."""
        entry = self.entries.get(key)
        if entry is None:
            return 1
        start = entry.line - 2  # the header's first line is line 2 of the file
        wanted = inside.split("\n")[0][:40]
        below = range(start, len(self.header)) if wanted else ()
        return next((at + 2 for at in below if wanted in self.header[at]), entry.line)

    def add_error(self, key: str, reason: str, inside: str = "") -> None:
        """Add a problem that makes the skill unusable."""
        self.broken = True
        self.problems.append(SkillProblem(self.path, self.line(key, inside), reason))

    def add_remark(self, key: str, reason: str) -> None:
        """Add a problem with which the skill can be used."""
        self.problems.append(SkillProblem(self.path, self.line(key), reason))

    def text(self, key: str, longest: int = LONGEST_TEXT) -> str:
        """A text (or a number as text); empty if the key is missing or of another type. Adds remarks only."""
        value = self.value(key)
        if value is None:
            return ""
        if isinstance(value, Mapping) or is_list(value):
            self.add_remark(key, f"{key} is not text, so it is left unread")
            return ""
        text = str(value).strip()
        if len(text) > longest:
            self.add_remark(key, f"{key} has {len(text):,} characters; the format allows {longest:,}")
        return text

    def limited(self, key: str, text: str) -> str:
        """The text; adds an error if it is too long."""
        if len(text) > LONGEST_TEXT:
            self.add_error(key, f"{key} has {len(text):,} characters; at most {LONGEST_TEXT:,} are allowed")
        return text

    def texts(self, key: str, value: Value, name: str = "") -> tuple[str, ...]:
        """The texts of a list, or of a single text."""
        name = name or key
        items = value if is_list(value) else () if value is None else (value,)
        if len(items) > LONGEST_LIST:
            self.add_error(key, f"{name} has {len(items):,} items; at most {LONGEST_LIST} are allowed")
            return ()
        found = []
        for item in items:
            if item is None or isinstance(item, Mapping) or is_list(item) or not str(item).strip():
                self.add_error(key, f"{name} must hold texts only")
                return ()
            found.append(self.limited(key, str(item).strip()))
        return tuple(found)

    def number(self, key: str, default: float, least: float, most: float) -> float:
        """A number in a range, or the nearest one in it; a value that is not a number is ignored. Adds remarks only."""
        value = self.value(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            self.add_remark(key, f"{key} is not a number, so it is left unread; write one from {least:g} to {most:g}")
            return default
        found = min(max(value, least), most)
        if found != value:
            self.add_remark(key, f"{key} must be a number from {least:g} to {most:g}; {found:g} is used")
        return float(found)

    def in_range(self, key: str, name: str, value: Value, least: float, most: float) -> float:
        """The value as a number in a range; adds a problem for anything else."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            self.add_error(key, f"{name} must be a number from {least:g} to {most:g}")
            return least
        return float(value)

    def mapping(self, key: str) -> Mapping[str, Value] | None:
        """The mapping in an extension key; None if the key is missing or has another type."""
        value = self.value(key)
        if value is None or isinstance(value, Mapping):
            return value
        self.add_remark(key, f"{key} is not a mapping, so it is left unread")
        return None

    def pairs(self, key: str, name: str, value: Value) -> Iterator[tuple[str, Value]]:
        """The items of a mapping inside an extension key; adds a problem for anything else."""
        if value is None:
            return
        if not isinstance(value, Mapping):
            self.add_error(key, f"{name} must be a mapping")
            return
        if len(value) > LONGEST_LIST:
            self.add_error(key, f"{name} has {len(value):,} keys; at most {LONGEST_LIST} are allowed")
            return
        yield from value.items()


_KEY = "triggers"
_INTENTS, _ALL = "intent_patterns", "all"
_KNOWN = ("intent_patterns", "except_patterns", "tool_signals", "context_signals", "confidence_threshold")


def parse_triggers(fields: HeaderFields) -> Triggers | None:
    """The triggers; None without them. Errors are added to `fields`."""
    found = fields.mapping(_KEY)
    if found is None:
        return None
    for name in found:
        if name not in _KNOWN:
            near = meant(name, _KNOWN)
            help_ = f"did you mean {near}?" if near else f"known: {', '.join(_KNOWN)}"
            fields.add_remark(_KEY, f"triggers.{ascii(name)[1:-1]} is unknown and left unread; {help_}")
    signals = dict(fields.pairs(_KEY, "context_signals", found.get("context_signals")))
    threshold = found.get("confidence_threshold")
    patterns = _intents(fields, found.get("intent_patterns"))
    exceptions = _patterns(fields, "except_patterns", found.get("except_patterns"))
    triggers = Triggers(
        patterns,
        fields.texts(_KEY, found.get("tool_signals"), "tool_signals"),
        _keywords(fields, signals.get("keywords")),
        tuple(
            (name, fields.texts(_KEY, value, f"slots.{name}"))
            for name, value in fields.pairs(_KEY, "slots", signals.get("slots"))
        ),
        THRESHOLD if threshold is None else fields.in_range(_KEY, "confidence_threshold", threshold, 0, 1) or THRESHOLD,
        exceptions,
    )
    if sum(pattern.size for pattern in triggers.every) > SIZE_TOGETHER:
        fields.add_error(_KEY, "the patterns are too large together: use fewer, or smaller repeats")
    return triggers


def _keywords(fields: HeaderFields, value: Value) -> tuple[str, ...]:
    """The keywords in lower case and normalized, each once."""
    return tuple(dict.fromkeys(normalize(word.lower()) for word in fields.texts(_KEY, value, "keywords")))


def _intents(fields: HeaderFields, value: Value) -> tuple[Intent, ...]:
    """One intent for each pattern, and one for all the patterns in a list below `all`."""
    items = value if is_list(value) else () if value is None else (value,)
    found: list[Intent] = []
    for item in items:
        if isinstance(item, Mapping) and set(item) == {_ALL}:
            parts = _patterns(fields, f"{_INTENTS}: {_ALL}", item[_ALL])
            found += [Intent(parts)] if parts else []
            if not parts:
                fields.add_error(_KEY, f"{_INTENTS}: {_ALL} must hold patterns")
        else:
            found += [Intent((part,)) for part in _patterns(fields, _INTENTS, (item,))]
        if len(items) > MOST or sum(len(intent.parts) for intent in found) > MOST:
            fields.add_error(_KEY, f"{_INTENTS} has more than {MOST} patterns; at most {MOST} are allowed")
            return ()
    return tuple(found)


def _patterns(fields: HeaderFields, name: str, value: Value) -> tuple[TaskPattern, ...]:
    texts = fields.texts(_KEY, value, name)
    if len(texts) > MOST:
        fields.add_error(_KEY, f"{name} has {len(texts)} items; at most {MOST} are allowed")
        return ()
    if value is not None and not is_list(value) and not isinstance(value, str):
        fields.add_error(_KEY, f"{name} must be a list of patterns")
        return ()
    found = []
    for text in texts:
        try:
            found.append(compile_pattern(text))
        except BadPattern as error:
            fields.add_error(_KEY, str(error), text)
    return tuple(found)
