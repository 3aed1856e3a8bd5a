"""Types of settings, and the parsing of a setting's text.

A setting is text in every source (a file, the environment, a flag), so one parser, driven by the field's type, is
enough: `off` is a word here and never YAML's false. `settings` defines the settings.

A setting that is a mapping: in a settings file it may be written as one, and is read as its JSON.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Literal, TypeGuard, TypeVar, get_args, get_origin, get_type_hints

from agent.config.secrets import Secret
from agent.dataclass import dataclass
from agent.errors import ConfigError
from agent.json_value import parse_json
from agent.lazy import later
from agent.texts import Sentence, either

if TYPE_CHECKING:
    from agent.config.addresses import without_keys
else:
    without_keys = later("agent.config.addresses", "without_keys")


def mapping_as_json(texts: Mapping[str, str | None], name: str) -> str:
    """The mapping of the setting `name` as JSON, from the texts of its values by dotted key; `3` and `true` are no
    texts. Raises `ConfigError` for a list, which a settings file cannot hold."""
    whole: object = {}
    for key, text in texts.items():
        if text is None:
            raise ConfigError(
                "{key} is a list, which a settings file cannot hold",
                hint="write the whole of {name} as JSON, in quotes",
                key=f"{name}.{key}",
                name=name,
            )
        whole = _with(whole, key.split("."), _value(text))
    return json.dumps(whole)


def _with(mapping: object, path: Sequence[str], value: object) -> object:
    """The mapping with a value at this path; anything else that stands in its way is replaced."""
    if not path:
        return value
    before: dict[str, object] = mapping if isinstance(mapping, dict) else {}
    return {**before, path[0]: _with(before.get(path[0]), path[1:], value)}


def _value(text: str) -> object:
    try:
        return parse_json(text)
    except ValueError:
        return text


SettingValue = str | int | float | bool | Secret
T = TypeVar("T")

_WORDS: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    Secret: "env:NAME, file:PATH or keyring:NAME",
}

_TRUTH = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


@dataclass(frozen=True, slots=True, eq=False)
class Range:
    """The smallest and largest number allowed, both included, and their unit."""

    low: float
    high: float
    unit: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """The pattern of a text, and a short description of it for a message, in English."""

    pattern: str
    words: str


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """The words allowed, where they are not known to the code but to files."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SettingType:
    """The type of one setting: its base type, its choices, its range, its form."""

    base: type
    """`str`, `int`, `float`, `bool` or `Secret`."""

    choices: tuple[str, ...] = ()
    """The allowed words; empty if all are allowed."""

    range: Range | None = None
    form: Form | None = None

    @property
    def expects(self) -> Sentence:
        """A short description of the allowed values, for a message."""
        if self.choices:
            return either(self.choices)
        if self.form is not None:
            return Sentence(self.form.words)
        kind, limits = Sentence(_WORDS[self.base]), self.range
        if limits is None:
            return kind
        facts = {"kind": kind, "low": limits.low, "high": limits.high}
        if not limits.unit:
            return Sentence("{kind} from {low:,.12g} to {high:,.12g}", **facts)
        return Sentence("{kind} from {low:,.12g} to {high:,.12g} {unit}", **facts, unit=Sentence(limits.unit))

    def read(self, text: str) -> SettingValue:
        """The value of `text`; raises `ConfigError` with the expected values."""
        text = text.strip()
        value = self._convert(text)
        wrong = value is None or (self.choices and value not in self.choices)
        if self.range is not None and isinstance(value, int | float):
            wrong = wrong or not self.range.low <= value <= self.range.high  # also refuses nan
        if self.form is not None:
            wrong = wrong or re.fullmatch(self.form.pattern, text, re.ASCII) is None
        if wrong or value is None:
            raise ConfigError("{text} is not {expects}", text=quote_for_message(text), expects=self.expects)
        return value

    def _convert(self, text: str) -> SettingValue | None:
        if self.base is bool:
            return _TRUTH.get(text.lower())
        if self.base is Secret:
            return Secret(text)
        if self.base is str:
            return text
        try:
            return int(text) if self.base is int else float(text)
        except ValueError:
            return None


@cache
def setting_types(cls: Callable[..., object]) -> MappingProxyType[str, SettingType]:
    """The types of all settings of a nested dataclass by dotted key, in the order of the fields."""
    found: dict[str, SettingType] = {}
    for name, hint in _fields(cls).items():
        if _is_section(hint):
            found |= {f"{name}.{key}": kind for key, kind in setting_types(hint).items()}
        else:
            found[name] = _kind(hint)
    return MappingProxyType(found)


def build(cls: Callable[..., T], values: Mapping[str, SettingValue], section: str = "") -> T:
    """An instance of the nested dataclass `cls` from the values of its keys, which begin with `section`."""
    return cls(
        **{
            name: build(hint, values, f"{section}{name}.") if _is_section(hint) else values[section + name]
            for name, hint in _fields(cls).items()
        }
    )


@cache
def _fields(cls: Callable[..., object]) -> Mapping[str, object]:
    """The types of a dataclass's fields by name, with what is annotated of them."""
    return MappingProxyType(get_type_hints(cls, include_extras=True))


def _is_section(hint: object) -> TypeGuard[type]:
    # not by `is_dataclass`, for which all methods of the class would be made
    return isinstance(hint, type) and "__dataclass_fields__" in vars(hint) and hint is not Secret


def _kind(hint: object) -> SettingType:
    limits: Range | None = None
    form: Form | None = None
    choices: tuple[str, ...] = ()
    if get_origin(hint) is Annotated:
        hint, *extras = get_args(hint)
        limits = next((extra for extra in extras if isinstance(extra, Range)), None)
        form = next((extra for extra in extras if isinstance(extra, Form)), None)
        choices = next((extra.words for extra in extras if isinstance(extra, Choices)), ())
    if get_origin(hint) is Literal:
        return SettingType(str, choices=get_args(hint))
    if not isinstance(hint, type) or hint not in _WORDS:
        raise TypeError(f"a setting cannot be of type {hint}")
    return SettingType(hint, choices, limits, form)


def format_value(value: SettingValue) -> str:
    """A value as a person writes it; a secret without a reference is hidden, and so are keys in addresses."""
    return str(value).lower() if isinstance(value, bool) else without_keys(str(value))


def quote_for_message(text: str) -> str:
    """`text` quoted and shortened for a message, with escapes, because it may be untrusted; without keys in it."""
    text = without_keys(text)
    short = text if len(text) <= 60 else text[:60] + "…"
    return f'"{short}"' if short.isprintable() else ascii(short)


_SHORTEST = 4
"""Letters below which too many words are alike."""
_LIKE = 0.8
"""The least likeness: one letter too many, too few or exchanged in five."""


def meant(word: str, known: Iterable[str]) -> str:
    """The known word that is meant by a word that is none of them; empty if it is like none."""
    names, plain = {_plain(each): each for each in known}, _plain(word)
    if plain in names:
        return names[plain]
    if len(plain) < _SHORTEST:
        return ""
    from difflib import get_close_matches  # few words are unknown

    begun = [name for name in names if name.startswith(f"{plain}_")]
    near = begun[:1] if len(begun) == 1 else get_close_matches(plain, names, 1, _LIKE)
    return names[near[0]] if near else ""


def _plain(word: str) -> str:
    return word.strip().casefold().replace("-", "_").replace(" ", "_")


@lru_cache(maxsize=8)
def numbers_by_name(written: str) -> Mapping[str, int]:
    """The numbers in a setting such as `spend:120, job_failed:60`, whose form was checked."""
    pairs = (each.split(":") for each in written.split(",") if each.strip())
    return {name.strip(): int(number) for name, number in pairs}
