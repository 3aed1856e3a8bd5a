"""The parts of a question: its sentences, where and when it says to look, and the log of a day that it names."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import date, timedelta
from functools import lru_cache

from agent.config.resources import pattern
from agent.dataclass import dataclass
from agent.index.analysis import query_terms, terms
from agent.index.query import AFTER_DAYS, without_filters
from agent.memory.forgetting.tombstones import SENTENCE
from agent.memory.memory_note import rests_on
from agent.memory.recall.candidates import filled
from agent.times.named_days import NamedDay, parse_days, span, without_days
from agent.times.periods import NamedPeriod, find_periods

_IN_FOLDER = (
    r"(?:(?:in|from|under|within|inside|of|at|going by|by) )?(?:the |my |our )?(?:notes? (?:in|from|under|of) )?"
    r"(?:the |my )?(?:folder )?[\"'“‘`\[]*{name}/?[\"'”’`\]]*(?: folder| notes)?"
)
_LEAST_NAME = 2
_LED = r"(?<![\w-])(?:in|from|under|within|inside|folder|notes? of)\b[^,.;?!]{0,24}$"
_HAN_LED = r"[在从]?(?:我的)?{name}(?:文件夹|目录|笔记)?(?:里面?|中|下面?)?的?"


@dataclass(frozen=True, slots=True)
class WhereAndWhen:
    """A sentence without "in my notes" (`whole`), and where it names a `folder` also without that (`asked`). `time` is
    the first and last day of the time that it names; `is_of_days`: it asks for nothing but what was then, as "What did
    I do yesterday?" does."""

    whole: str
    asked: str
    folder: str = ""
    time: tuple[date, date] | None = None
    is_of_days: bool = False

    @property
    def days(self) -> str:
        """The filter for the time; empty for none."""
        return f"after:{self.time[0].isoformat()} before:{self.time[1].isoformat()}" if self.time else ""

    @property
    def months(self) -> str:
        """The months of the time, as words that a search takes for dates."""
        if self.time is None:
            return ""
        first, last = (each.year * 12 + each.month - 1 for each in self.time)
        return " ".join(f"{month // 12}-{month % 12 + 1:02}" for month in range(first, last + 1))

    @property
    def there(self) -> str:
        """The filter for what comes first: the notes of the folder, and of that time."""
        return " ".join(filter(None, (f'path:"{self.folder}/"' if self.folder else "", self.days)))


def where_and_when(sentence: str, folders: Callable[[], frozenset[str]], today: date) -> WhereAndWhen:
    """The places and times that a sentence asks for; `folders` are those of the vault."""
    plain = " ".join(pattern("in_the_notes").sub(" ", sentence).split())
    whole = plain if terms(plain) else sentence
    folder, rest = _folder(whole, folders())
    rest = rest if terms(rest) else whole
    time = _time(whole, today)
    return WhereAndWhen(whole, rest, folder, time, time is not None and _is_of_days(rest, today))


def without_time(part: str, today: date) -> str:
    """A part of a sentence without the words for a time, if it says more than them."""
    rest = _without_time(part, today)
    return rest if terms(rest) else part


def without_distance(part: str, today: date) -> str:
    """A part of a sentence without the words that name a time by its distance from today ("last week"), if it says more
    than them: what was written then calls it by another name."""
    rest = " ".join(_without(part, [each for each in find_periods(part, today) if each.is_over]).split())
    return rest if query_terms(rest) else part


def days_of_past(text: str, today: date) -> tuple[date, ...]:
    """The single days that a text looks back to, the latest first; of "on Tuesday" and "today" only what is told of
    them as past. A day without a year that is told as past is the latest that has begun."""
    is_of_past = pattern("told_as_past").search(text) is not None
    days = [each for each in parse_days(text) if each.day]
    if is_of_past:
        named = [_span(each, today)[0] for each in days]
    else:
        named = [span(each.year or today.year, each.month, each.day)[0] for each in days]
    found = [each.first for each in find_periods(text, today) if each.is_day and (each.is_over or is_of_past)]
    return tuple(sorted({day for day in (*named, *found) if day <= today}, reverse=True))


def _is_of_days(rest: str, today: date) -> bool:
    """True if a sentence asks for what was at a time that is over, and for nothing else."""
    if terms(pattern("of_days").sub(" ", _without_time(rest, today))):
        return False
    is_of_past = pattern("told_as_past").search(rest) is not None
    return bool(parse_days(rest)) or any(each.is_over or is_of_past for each in find_periods(rest, today))


def _without_time(part: str, today: date) -> str:
    return without_days(_without(part, find_periods(part, today)))


def _without(part: str, periods: Sequence[NamedPeriod]) -> str:
    """A part of a sentence without the words for some periods, which stand in their order."""
    for each in reversed(periods):
        part = f"{part[: each.begin]} {part[each.end :]}"
    return part


def _folder(asked: str, folders: Iterable[str]) -> tuple[str, str]:
    """The longest folder that the words name, and the words without it."""
    low = asked.casefold()
    for folder in sorted(folders, key=len, reverse=True):
        for name in (folder, folder.rpartition("/")[2]):
            at = low.find(name.casefold())
            if at < 0 or (len(name) < _LEAST_NAME and name.isascii()):
                continue
            if name.isascii():
                is_word = re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", asked, re.IGNORECASE)
                is_led = is_word and (re.search(_LED, asked[: is_word.start()], re.IGNORECASE) or "/" in name)
                found = re.sub(_IN_FOLDER.format(name=re.escape(name)), " ", asked, flags=re.IGNORECASE)
            else:
                is_led = re.search(rf"{re.escape(name)}(?:文件夹|目录|笔记|里|中|下)", asked)
                found = re.sub(_HAN_LED.format(name=re.escape(name)), " ", asked)
            if is_led:
                return folder, " ".join(found.split())
    return "", asked


def _time(asked: str, today: date) -> tuple[date, date] | None:
    """The days that the words name; after a date also the few days on which one writes about it. None for no time."""
    named = [(first, last + timedelta(AFTER_DAYS)) for first, last in (_span(day, today) for day in parse_days(asked))]
    named += [(each.first, each.last) for each in find_periods(asked, today)]
    return (min(first for first, _ in named), max(last for _, last in named)) if named else None


@lru_cache(maxsize=64)
def _span(named: NamedDay, today: date) -> tuple[date, date]:
    """The first and last day of a day or month; one without a year is the latest that has begun."""
    year = named.year or today.year
    first, last = span(year, named.month, named.day)
    return (first, last) if named.year or first <= today else span(year - 1, named.month, named.day)


_MARK = re.compile(r"^%% vault-agent:.*%%\s*\n?", re.MULTILINE)
_PART = re.compile(r"^(?=#{1,6} )", re.MULTILINE)


def asked_days(question: str, today: date) -> tuple[str, ...]:
    """The days (ISO) of which a question about its person, or about a conversation, wants the logs: "today",
    "yesterday", "last Tuesday". Other questions name such a day in passing ("in which country is Waterloo today?")."""
    plain = question.replace("’", "'")
    if not (pattern("own").search(plain) or pattern("together").search(plain)):
        return ()
    return tuple(day.isoformat() for day in days_of_past(plain, today))


def end_of_day(note: str, most: int) -> tuple[str, tuple[int, int]]:
    """The last sections of a day's note, in at most `most` characters, with their lines: the day's summary, and what
    was logged last. Empty for a day without sections."""
    rows = note.rstrip("\n").split("\n")
    begins = [at for at, row in enumerate(rows) if row.startswith("##")]
    fitting = (at for at in begins if len("\n".join(rows[at:])) <= most)
    begin = next(fitting, begins[-1] if begins else len(rows))
    text = _MARK.sub("", filled("\n".join(rows[begin:]))).strip()
    return text[:most], (begin + 1, len(rows))


def without_facts(log: str, links: Collection[str]) -> str:
    """The log without the facts whose entries have these links, nor the headings that nothing is left below."""
    left: list[str] = []
    for part in _PART.split(log):
        rows = part.splitlines()
        others = [row for row in rows if not rests_on(row, links)]
        is_emptied = len(others) < len(rows) and all(row.startswith("#") or not row.strip() for row in others)
        left += [] if is_emptied else others
    return "\n".join(left).strip()


MOST = 6
"""The most sentences of a request, and the most parts of one, that are searched for: the first and the last ones."""
_LONGEST = 600
"""The most characters of one part."""
_CLAUSE = re.compile(r"[,，:：—、](?!\d)\s*")
_WORDS, _CHARACTERS = 12, 20
"""A sentence with more words (or characters of a script without spaces) is also searched for clause by clause."""
_TERMS = 2
"""The least terms of a clause that is searched for by itself."""


def sentences(task: str) -> tuple[str, ...]:
    """The sentences of a request that say something, in their order, with nothing in them that parses as a filter."""
    return _few(_plain(found) for found in SENTENCE.findall(task) if query_terms(found))


def clauses(sentence: str) -> tuple[str, ...]:
    """A sentence, and the clauses of a long one."""
    is_long = len(sentence.split()) > _WORDS or (not sentence.isascii() and len(sentence) > _CHARACTERS)
    own = [each for each in _CLAUSE.split(sentence) if len(query_terms(each)) >= _TERMS] if is_long else []
    return _few((sentence, *own)) if len(own) > 1 else (sentence,)


def whole_sentence(sentence: str) -> tuple[str, ...]:
    """The sentence as its only part."""
    return (sentence,)


def _few(parts: Iterable[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(parts))
    return found if len(found) <= MOST else (*found[: MOST // 2], *found[-MOST // 2 :])


def _plain(part: str) -> str:
    return without_filters(" ".join(part.split())[:_LONGEST])
