"""The words and forms of times in each language, from `languages/*.yaml`; `en.yaml` says how such a file is made."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeAlias, cast

from agent.dataclass import dataclass

Word: TypeAlias = int | float | str
_FOLDER = Path(__file__).with_name("languages")
_PLACEHOLDER = re.compile(r"\{(?:([a-z_]+\d?):)?([a-z_]+\d?)\}")
_LATIN = re.compile(r"[a-z]", re.IGNORECASE)
_TENS = {"十": 10, "百": 100}


@dataclass(frozen=True, slots=True)
class WordForm:
    """One form of words: `rule` says how it is taken, `kinds` what each of its groups is, `sign` where it holds: `+`
    only behind another time, `=` only as a whole text, `~` only within one."""

    rule: str
    pattern: re.Pattern[str]
    kinds: Mapping[str, str]
    sign: str = ""

    @property
    def follows(self) -> bool:
        return self.sign == "+"


@dataclass(frozen=True, slots=True)
class Language:
    """The language of one file. `written` are the ways to write a day, as patterns that git searches for, too."""

    name: str
    words: Mapping[str, Mapping[str, Word]]
    parts: Mapping[str, str]
    forms: Mapping[str, Sequence[Mapping[str, str]]]
    lines: Mapping[str, str]
    written: tuple[str, ...]

    def compiled(self, section: str) -> tuple[WordForm, ...]:
        """The forms of a section, in their order."""
        return _compiled(self.name, section)

    def line(self, name: str) -> re.Pattern[str]:
        """A single pattern of the file; one that matches nothing, if the file has none."""
        return _line(self.name, name)

    def expanded(self, form: str) -> tuple[str, dict[str, str]]:
        """A form as a regular expression, and the kind of each group."""
        kinds: dict[str, str] = {}

        def put(match: re.Match[str]) -> str:
            group, kind = match.groups()
            inner = self._alternatives(kind)
            if not group:
                return f"(?:{inner})"
            kinds[group] = kind
            return f"(?P<{group}>{inner})"

        return _PLACEHOLDER.sub(put, form), kinds

    def _alternatives(self, kind: str) -> str:
        if kind in self.words:
            return "|".join(re.escape(word) for word in sorted(self.words[kind], key=len, reverse=True))
        return self.expanded(self.parts[kind])[0]

    def word(self, kind: str, text: str) -> Word:
        """The meaning of a word; a part that is no kind of word is a number, or itself."""
        plain = " ".join(text.lower().split())
        if kind in self.words:
            return self.words[kind][plain]
        number = self.number(plain)
        return plain if number is None else number

    def number(self, text: str) -> float | int | None:
        """The number of `15`, `1.5`, `1st`, `twenty five`, `十五`, `二〇二七`; None for no number."""
        if digits := re.fullmatch(r"(\d+)(\.\d+)?(?:st|nd|rd|th)?", text):
            return float(digits[1] + digits[2]) if digits[2] else int(digits[1])
        for kind in ("number", "few", "vague", "article", "ordinal"):
            found = self.words.get(kind, {}).get(text)
            if found is not None:
                return cast(int, found)
        numbers = self.words.get("number", {})
        pieces = re.split(r"[ -]", text)
        if len(pieces) == 2 and all(each in numbers for each in pieces):
            tens, ones = (cast(int, numbers[each]) for each in pieces)
            return tens + ones if tens >= 20 and ones < 10 else None
        return self._by_digits(text)

    def _by_digits(self, text: str) -> int | None:
        digits = cast(Mapping[str, int], self.words.get("digit", {}))
        if not text or any(char not in digits for char in text):
            return None
        if not any(char in _TENS for char in text):
            values = [digits[char] for char in text]
            if len(values) == 2 and values[0] >= 20 > 10 > values[1]:
                return values[0] + values[1]
            return int("".join(map(str, values))) if all(value < 10 for value in values) else None
        total, ones = 0, None
        for char in text:
            if char in _TENS:
                total += (1 if ones is None else ones) * _TENS[char]
                ones = None
            elif ones is not None and ones != 0:
                return None
            else:
                ones = digits[char]
        return total + (ones or 0)


@cache
def month_words() -> Mapping[str, Mapping[str, int]]:
    """The words for months of each language that has such: few texts have one, and only those need the forms."""
    found: dict[str, Mapping[str, int]] = {}
    for path in sorted(_FOLDER.glob("*.months")):
        rows = (line.rpartition(" ") for line in path.read_text("utf-8").splitlines())
        found[path.stem] = {name: int(number) for name, _, number in rows}
    return found


@cache
def languages() -> tuple[Language, ...]:
    """All languages that have a file, with `any` for what is written alike in all."""
    return tuple(map(_load, sorted(path.stem for path in _FOLDER.glob("*.yaml"))))


def languages_of(text: str) -> tuple[Language, ...]:
    """The languages whose words a text may have, by its letters."""
    has_latin, has_other = _LATIN.search(text) is not None, not text.isascii()
    return tuple(
        each for each in languages() if each.name == "any" or (has_latin if each.name in _latin() else has_other)
    )


@cache
def _latin() -> frozenset[str]:
    return frozenset(each.name for each in languages() if "digit" not in each.words)


@cache
def same_signs() -> Mapping[int, str]:
    """Signs that stand for others, of all languages."""
    found: dict[int, str] = {}
    for name in sorted(path.stem for path in _FOLDER.glob("*.yaml")):
        same = cast(Mapping[str, str], _raw(name).get("same") or {})
        found |= {ord(sign): other for sign, other in same.items()}
    return found


@cache
def _raw(name: str) -> Mapping[str, object]:
    import yaml  # of the commands, few read times

    loaded: Mapping[str, object] = yaml.load((_FOLDER / f"{name}.yaml").read_text("utf-8"), yaml.CSafeLoader)
    return loaded


@cache
def _load(name: str) -> Language:
    raw = _raw(name)
    lists = {key: cast(Sequence[Mapping[str, str]], value) for key, value in raw.items() if _is_forms(value)}
    written = tuple(cast(Sequence[str], raw.get("written") or ()))
    lines = {key: value for key, value in raw.items() if isinstance(value, str)}
    words: dict[str, Mapping[str, Word]] = {
        kind: {str(word).lower(): value for word, value in table.items()}
        for kind, table in cast(Mapping[str, Mapping[str, Word]], raw["words"]).items()
    }
    if name in month_words():
        words["month"] = month_words()[name]
    return Language(name, words, cast(Mapping[str, str], raw["parts"]), lists, lines, written)


def _is_forms(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


@cache
def _compiled(name: str, section: str) -> tuple[WordForm, ...]:
    return tuple(_forms(_load(name), section))


def _forms(language: Language, section: str) -> Iterator[WordForm]:
    for each in language.forms.get(section, ()):
        for rule, form in each.items():
            pattern, kinds = language.expanded(form)
            name = rule.lstrip("+=~")
            yield WordForm(name, re.compile(pattern, re.IGNORECASE), kinds, rule[: len(rule) - len(name)])


@cache
def _line(name: str, key: str) -> re.Pattern[str]:
    language = _load(name)
    return re.compile(language.expanded(language.lines.get(key, "(?!)"))[0], re.IGNORECASE | re.DOTALL)
