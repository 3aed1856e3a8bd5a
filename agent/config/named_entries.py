"""The entries of a setting that is a mapping of names, such as `tools.servers`: from its JSON to typed fields."""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from agent.config.values import meant, quote_for_message
from agent.dataclass import dataclass
from agent.errors import ConfigError
from agent.json_value import parse_json
from agent.texts import Sentence, either

_NAME = re.compile(r"[a-z][a-z0-9]{0,19}")


@dataclass(frozen=True, slots=True)
class NamedEntry:
    """What one name stands for; `setting` is the mapping's key, for messages."""

    setting: str
    name: str
    fields: Mapping[str, object]

    @property
    def key(self) -> str:
        """The dotted key of the entry, as a file has it."""
        return f"{self.setting}.{self.name}"

    def refuse_others(self, known: Collection[str]) -> None:
        """Raise `ConfigError` for a field that is not known."""
        for field in self.fields:
            if field not in known:
                near = meant(field, known)
                hint = Sentence("did you mean {names}?", names=near) if near else _known(known)
                raise ConfigError("{key} has no field {field}", hint=hint, key=self.key, field=quote_for_message(field))

    def text(self, field: str) -> str:
        """A text, empty if there is none; raises `ConfigError` for a mapping or a list."""
        value = self.fields.get(field, "")
        if isinstance(value, dict | list):
            raise self.wrong(field, Sentence("text"))
        return _written(value).strip()

    def words(self, field: str) -> tuple[str, ...]:
        """The texts of a list; raises `ConfigError` for anything else."""
        value = self.fields.get(field, [])
        if not isinstance(value, list) or any(isinstance(each, dict | list) for each in value):
            raise self.wrong(field, Sentence("a list of words"))
        return tuple(map(_written, value))

    def mapping(self, field: str) -> Mapping[str, str]:
        """Texts by name; raises `ConfigError` for anything else."""
        value = self.fields.get(field, {})
        if not isinstance(value, dict) or any(isinstance(each, dict | list) for each in value.values()):
            raise self.wrong(field, Sentence("a name and a value in each line"))
        return {str(name): _written(each) for name, each in value.items()}

    def truth(self, field: str) -> bool:
        """True or false, false if it is not there; raises `ConfigError` for anything else."""
        word = self.text(field).lower() or "false"
        if word not in ("true", "yes", "on", "false", "no", "off"):
            raise self.wrong(field, Sentence("true or false"))
        return word in ("true", "yes", "on")

    def wrong(self, field: str, expects: Sentence) -> ConfigError:
        """The error for a field of the wrong kind."""
        return ConfigError("{key}.{field} is not {expects}", key=self.key, field=field, expects=expects)


def entries_of(setting: str, text: str) -> Iterator[NamedEntry]:
    """The entries in the JSON of a setting; an entry that is a text has it as its field `""`. None without a text.

    Raises `ConfigError` for what is no mapping, and for a name that is not one short word in lower case.
    """
    if not text.strip():
        return
    try:
        whole: object = parse_json(text)
    except ValueError:
        whole = None
    if not isinstance(whole, dict):
        raise ConfigError(
            "{key} is no mapping of names", hint="write it as JSON, or as a mapping in the file", key=setting
        )
    for name, value in whole.items():
        if not _NAME.fullmatch(name):
            raise ConfigError(
                "{key} has the name {name}, which is not one word of small letters and digits",
                hint="choose a short one, such as work or notes2",
                key=setting,
                name=quote_for_message(name),
            )
        yield NamedEntry(setting, name, value if isinstance(value, dict) else {"": value})


def home_path(text: str) -> str:
    """The text with a leading `~` replaced by the person's home folder."""
    return str(Path(text).expanduser()) if text.startswith("~") else text


def _known(names: Collection[str]) -> Sentence:
    return Sentence("it may have {names}", names=either(sorted(filter(None, names))))


def _written(value: object) -> str:
    """A value as a person wrote it: numbers and truth values of a file are texts here."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
