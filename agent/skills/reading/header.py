"""The keys of a `SKILL.md` header as typed values; every error is collected with its line.

A problem is an error or a remark. An error makes the skill unusable: its name is not sure, or when it would be used and
with which tools (`name`, `triggers`, `chain`, `allowed-tools`). A remark names what is wrong elsewhere: a text longer
than the format allows is used all the same, a number out of range becomes the nearest one in it, and a value of another
type, which belongs to another program, is ignored.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from types import MappingProxyType

from agent.dataclass import dataclass
from agent.markdown.frontmatter import Parts, text_of
from agent.markdown.values import Value, is_list
from agent.markdown.yaml_read import HeaderEntry
from agent.skills.reading.skill import SkillProblem

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
