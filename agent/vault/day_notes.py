"""The person's own daily notes: their folder and the form of their names, as Obsidian's settings in the vault say.

Read where a person has set them (the core plugin's `daily-notes.json`, or the plugin Periodic Notes): then the agent
writes into that note of the day, and makes no second one. A form that does not name one day, or that leads to a folder
of the agent's, counts as not set. Names of months and weekdays are those of moment.js, from `agent/texts/`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from functools import cache
from pathlib import Path

from agent.dataclass import dataclass
from agent.texts import ENGLISH, LANGUAGES, Language, text
from agent.vault.obsidian import load_json

_CORE = ".obsidian/daily-notes.json"
_PLUGINS = ".obsidian/core-plugins.json"
_COMMUNITY = ".obsidian/community-plugins.json"
_PERIODIC = ".obsidian/plugins/periodic-notes/data.json"
_USUAL = "YYYY-MM-DD"
_TOKEN = re.compile(
    r"\[([^\]]*)\]|YYYY|YY|MMMM|MMM|MM|Mo|M|DDDD|DDD|DD|Do|D|dddd|ddd|dd|GGGG|WW|W|gggg|ww|w|Q|HH|H|mm|ss"
)
_PLACE = re.compile(r"\{\{\s*(date|time|title)\s*(?::\s*([^}]*?)\s*)?\}\}", re.IGNORECASE)
_ORDINAL = r"(?:[^\W\d_]{1,2}|\.)"
_PARTS: Mapping[str, tuple[str, str, str]] = {
    "YYYY": ("year", r"\d{4}", ""),
    "YY": ("year", r"\d\d", ""),
    "MM": ("month", r"\d\d", ""),
    "M": ("month", r"\d\d?", ""),
    "Mo": ("month", r"\d\d?", _ORDINAL),
    "MMMM": ("name", r"[^/\s]+", ""),
    "MMM": ("name", r"[^/\s]+", ""),
    "DD": ("day", r"\d\d", ""),
    "D": ("day", r"\d\d?", ""),
    "Do": ("day", r"\d\d?", _ORDINAL),
}
"""What a token says of a day: the part, its digits or letters, and what follows them."""
_NAMES: Mapping[str, str] = {
    "MMMM": "months",
    "MMM": "months_short",
    "Mo": "month_ordinals",
    "Do": "ordinals",
    "dddd": "weekdays",
    "ddd": "weekdays_short",
    "dd": "weekdays_least",
}
"""The tokens that are words, and the list of the texts (`calendar`) that has them."""


@dataclass(frozen=True, slots=True)
class DayNotes:
    """`folder` ends in a slash, or is empty for the vault itself; `form` is one of moment.js, such as `YYYY-MM-DD`.

    `template` is the path of the note from which Obsidian makes a new one; empty for none. `language` is that of the
    names of months and weekdays.
    """

    folder: str
    form: str
    template: str = ""
    language: Language = ENGLISH

    def path_of(self, day: date) -> str:
        """The path of a day's note."""
        return f"{self.folder}{written(day, self.form, self.language)}.md"

    def day_of(self, path: str) -> date | None:
        """The day of a daily note; None for any other path."""
        if not (path.startswith(self.folder) and path.endswith(".md")):
            return None
        return parsed_day(path[len(self.folder) : -3], self.form)

    def filled(self, template: str, now: datetime, day: date) -> str | None:
        """A template with its places filled in for a day, as Obsidian does; None for one with code in it, which only
        its plugin can fill in."""
        if "<%" in template:
            return None
        title = self.path_of(day).rpartition("/")[2].removesuffix(".md")
        values: Mapping[str, Callable[[str], str]] = {
            "title": lambda form: title,
            "date": lambda form: written(datetime.combine(day, now.timetz()), form or _USUAL, self.language),
            "time": lambda form: written(now, form or "HH:mm", self.language),
        }
        return _PLACE.sub(lambda match: values[match[1].lower()](match[2] or ""), template)


def load_day_notes(root: Path, language: Language, is_free: Callable[[str], bool]) -> DayNotes | None:
    """The daily notes that the settings below `root` name; None if none do, or if they cannot be used.

    `is_free`: a note at this path is the person's own, and not one of the agent's.
    """
    sample = date(2026, 11, 29)
    for folder, form, template in _set(root):
        place = folder.strip().strip("/")
        found = DayNotes(f"{place}/" if place else "", form.strip().strip("/") or _USUAL, template, language)
        if (
            _names_a_day(found.form)
            and found.day_of(found.path_of(sample)) == sample
            and is_free(found.path_of(sample))
        ):
            return found
    return None


def written(day: date, form: str, language: Language = ENGLISH) -> str:
    """A day, or a moment, in a form of moment.js; what is no token stays as it is."""
    return _TOKEN.sub(lambda match: match[1] if match[1] is not None else _value(day, match[0], language), form)


def parsed_day(text: str, form: str) -> date | None:
    """The day of a text in this form; None if it is not in it."""
    match = _pattern(form).fullmatch(text)
    if match is None:
        return None
    parts = match.groupdict("")
    year, month, name = parts.get("year", ""), parts.get("month", ""), parts.get("name", "").casefold()
    if not month:
        month = next((str(at) for at, names in enumerate(_month_names(), 1) if name in names), "")
    try:
        return date(int(year if len(year) > 2 else f"20{year}"), int(month), int(parts.get("day", "")))
    except ValueError:
        return None


def _names_a_day(form: str) -> bool:
    """True if a text in this form names one day, by numbers or by the name of a month."""
    tokens = {match[0] for match in _TOKEN.finditer(form) if match[1] is None}
    wanted = ({"YYYY", "YY"}, {"MM", "M", "Mo", "MMM", "MMMM"}, {"DD", "D", "Do"})
    return all(tokens & each for each in wanted) and ".." not in form.split("/")


@cache
def _month_names() -> tuple[frozenset[str], ...]:
    """The names of each month in all languages."""
    lists = [_names(kind, language) for kind in ("MMMM", "MMM") for language in LANGUAGES]
    return tuple(frozenset(map(str.casefold, names)) for names in zip(*lists, strict=True))


def _names(token: str, language: Language) -> list[str]:
    return text(f"calendar.{_NAMES[token]}", language).split()


@cache
def _pattern(form: str) -> re.Pattern[str]:
    """The pattern of a form: year, month and day are groups where they come first, and of no matter after that."""
    met: set[str] = set()
    source, at = "", 0
    for token in _TOKEN.finditer(form):
        source += re.escape(form[at : token.start()])
        at = token.end()
        part, digits, ending = _PARTS.get(token[0], ("", "[^/]+?", ""))
        if token[1] is not None:
            source += re.escape(token[1])
        else:
            source += f"(?P<{part}>{digits}){ending}" if part and part not in met else digits + ending
            met.add(part)
    return re.compile(source + re.escape(form[at:]), re.IGNORECASE)


def _value(day: date, token: str, language: Language) -> str:
    """The value of one token."""
    if token in _NAMES:
        at = day.weekday() if token[0] == "d" else (day.day if token == "Do" else day.month) - 1
        return _names(token, language)[at]
    week = day.isocalendar()
    moment = day if isinstance(day, datetime) else datetime(day.year, day.month, day.day)
    values = {
        "YYYY": f"{day.year:04}",
        "YY": f"{day.year % 100:02}",
        "Q": str((day.month + 2) // 3),
        "MM": f"{day.month:02}",
        "M": str(day.month),
        "DDDD": f"{day.timetuple().tm_yday:03}",
        "DDD": str(day.timetuple().tm_yday),
        "DD": f"{day.day:02}",
        "D": str(day.day),
        "GGGG": str(week.year),
        "gggg": str(week.year),
        "WW": f"{week.week:02}",
        "W": str(week.week),
        "ww": f"{week.week:02}",
        "w": str(week.week),
        "HH": f"{moment.hour:02}",
        "H": str(moment.hour),
        "mm": f"{moment.minute:02}",
        "ss": f"{moment.second:02}",
    }
    return values[token]


def _set(root: Path) -> Iterator[tuple[str, str, str]]:
    """Folder, form and template of the daily notes, from each plugin that is on and has them set; Periodic Notes comes
    first, as it replaces the core plugin where it is used."""
    periodic, core = load_json(root / _PERIODIC), load_json(root / _CORE)
    daily = periodic.get("daily") if isinstance(periodic, dict) else None
    if isinstance(daily, dict) and daily.get("enabled") is True and _is_on(root / _COMMUNITY, "periodic-notes"):
        yield _texts(daily)
    if isinstance(core, dict) and core and _is_on(root / _PLUGINS, "daily-notes"):
        yield _texts(core)


def _is_on(file: Path, plugin: str) -> bool:
    """True unless the file, with a list of the plugins that are on or with a yes or no for each, says otherwise: what a
    plugin has set stays when it is switched off."""
    settings = load_json(file)
    return plugin in settings if isinstance(settings, list) else settings is None or settings.get(plugin) is not False


def _texts(settings: Mapping[str, object]) -> tuple[str, str, str]:
    folder, form, template = (settings.get(key) for key in ("folder", "format", "template"))
    return tuple(each if isinstance(each, str) else "" for each in (folder, form, template))  # type: ignore[return-value]
