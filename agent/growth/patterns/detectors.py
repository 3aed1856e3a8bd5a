"""What comes more often than chance, and what is left lying: a question asked again and again, a topic that rises, a
tool that keeps failing, a topic or the whole work that keeps to an hour of the day or a day of the week; and a task
that nobody has done, touched or spoken of for a while.

Each kind makes its candidates; all but the last count the cases of each and compare them with what is usual for all the
others.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, time, timedelta

from agent.clock import in_clock_zone
from agent.config.resources import patterns as word_lists
from agent.growth.patterns.likeness import Vectors, bare, core_of, days_of, groups, occasions, topics, words_in
from agent.growth.patterns.pattern import (
    Activity,
    OpenBox,
    Pattern,
    Remark,
    ToolCallMade,
    binomial_tail,
    confidence,
    count_testable,
    pattern_of,
    poisson_tail,
    quoted,
    surest,
)
from agent.markdown.tasks import parse_task_dates
from agent.memory.edits.form import dates_in
from agent.memory.understanding.statements import is_question, is_small_talk
from agent.texts import Language, text

_LEAST = 3
"""Questions that are one, and failures for one reason."""
_MOST_ASKED = 400
"""The newest questions that are compared with each other: limits the time."""
_RETRY = timedelta(minutes=10)
"""The same asked again within this time is another try, not another question."""
_COMMON, _OWN = 0.7, 0.6
"""Questions that have less in common than the first share of their words are of one topic, and not the same question;
so are those that are less than the second share of all questions with their common words."""
_USUAL, _WEIGHT = 1.0, 10.0
"""Where little is known, one question in ten is taken to be asked once more, and one call of a tool to fail."""
_SUBJECT = 3
RECENT, BEFORE = timedelta(days=7), timedelta(days=28)
"""The days of a rising topic, and those before them."""
_OCCASIONS, _DAYS = 4, 3
"""How often a rising topic came up, and on how many days."""
_UNSEEN = 1
"""Earlier occasions that are taken for granted: where little is known, one may have been missed."""
_FAILING_DAYS = 2
_WORDS = 6
"""The words of a reason by which it is like another one."""
_VARIES = re.compile(r"[\"'`“”‘’][^\"'`“”‘’\n]{0,200}[\"'`“”‘’]|https?://\S+|\S*[/\\]\S*|\S+\.\w{1,5}\b|\S*\d\S*")
"""What differs between two failures of one kind: quoted names, addresses, paths, numbers."""
_WORD = re.compile(r"[^\W_]+")
UNTOUCHED = timedelta(days=7)
"""The time without a touch after which a task counts as abandoned."""
_HALF_DONE = 7.0
"""Days in which a person does half of the tasks that they do at all."""
_FRESH, _FADES = 28.0, 14.0
"""Days after which an old task is less and less worth a word, and those in which it fades to half."""
_SHORTLY = timedelta(days=90)
_SPOKEN_OF = 0.75
"""The share of a task's words in one remark by which it was spoken of."""


def repeated_questions(activity: Activity, language: Language, vectors: Vectors | None) -> tuple[Pattern, ...]:
    """The questions that were asked at least three times, in whatever words.

    The base rate is how many of the questions that are no pattern were asked a second time: where everything is asked
    twice, three times says little.
    """
    found = list(_alike(activity.of_kinds("asked"), vectors))
    sizes = Counter(len(_without_retries(alike)) for alike, _ in found)
    mean = (sizes[2] + _USUAL) / (sizes[1] + _WEIGHT)
    patterns = []
    for alike, asked in found:
        cases = _without_retries(alike)
        core, share = core_of([bare(each.text) for each in cases])
        if len(cases) < _LEAST or share < _COMMON or len(alike) < _OWN * _holding(core, asked):
            continue
        subject = " ".join(sorted(core)[:_SUBJECT])
        name = text("pattern.repeated_question", language, question=quoted(cases[-1].text), count=len(cases))
        sure = confidence(poisson_tail(len(cases) - 1, mean), len(found), cases, activity.now)
        patterns.append(pattern_of("repeated_question", subject, name, sure, cases, (each.text for each in cases)))
    return surest(patterns)


def rising_topics(activity: Activity, language: Language) -> tuple[Pattern, ...]:
    """The topics of the last seven days that came up more often than in the 28 days before.

    The base rate is the share of all remarks that is recent: a busy week makes no topic rise. Of a younger vault the
    days that there are count; without any before there is nothing to compare with.
    """
    end = activity.now - RECENT
    remarks = [each for each in activity.of_kinds("asked", "stated", "written") if each.at > end - BEFORE]
    lately, all_time = occasions(_since(remarks, end)), occasions(remarks)
    if lately in (0, all_time):
        return ()
    share = lately / all_time
    named = [(each, occasions(each.remarks)) for each in topics(remarks, _DAYS)]
    candidates = count_testable([binomial_tail(total, total + _UNSEEN, share) for _, total in named])
    patterns = []
    for topic, total in named:
        cases = _since(topic.remarks, end)
        count = occasions(cases)
        if count < _OCCASIONS or len(days_of(cases)) < _DAYS or count <= share * total:
            continue
        sure = confidence(binomial_tail(count, total + _UNSEEN, share), candidates, cases, activity.now)
        label = quoted(topic.label)
        name = text("pattern.rising_topic", language, topic=label, count=count, before=total - count)
        patterns.append(pattern_of("rising_topic", topic.key, name, sure, cases, (topic.label,), count))
    return surest(patterns)


def tool_failures(calls: Sequence[ToolCallMade], now: datetime, language: Language) -> tuple[Pattern, ...]:
    """The tools that failed at least three times for a like reason, on at least two days.

    The base rate is the share of the other tools' calls that failed.
    """
    failures = [each for each in calls if each.reason]
    made, failed = _by_tool(calls), _by_tool(failures)
    usual = {
        tool: (len(failures) - count + _USUAL) / (len(calls) - made[tool] + _WEIGHT) for tool, count in failed.items()
    }
    alike: dict[tuple[str, str], list[ToolCallMade]] = defaultdict(list)
    for each in failures:
        alike[each.tool, reason_kind(each.reason)].append(each)
    candidates = count_testable([usual[tool] ** made[tool] for tool, _ in alike])
    patterns = []
    for (tool, kind), cases in alike.items():
        if len(cases) < _LEAST or len(days_of(cases)) < _FAILING_DAYS:
            continue
        reason = quoted(_first_line(cases[-1].reason))
        name = text("pattern.tool_failure_pattern", language, tool=f"`{tool}`", count=len(cases), reason=reason)
        sure = confidence(binomial_tail(len(cases), made[tool], usual[tool]), candidates, cases, now)
        patterns.append(pattern_of("tool_failure_pattern", f"{tool} {kind}", name, sure, cases, ()))
    return surest(patterns)


def _by_tool(calls: Iterable[ToolCallMade]) -> Counter[str]:
    return Counter(each.tool for each in calls)


def reason_kind(reason: str) -> str:
    """A reason without what differs from one failure to the next: its first words in small letters."""
    return " ".join(_WORD.findall(_VARIES.sub(" ", _first_line(reason)).casefold())[:_WORDS])


def _alike(remarks: Sequence[Remark], vectors: Vectors | None) -> Iterator[tuple[list[Remark], list[Remark]]]:
    """The questions in groups that ask for the same, each with all that ask in the same way, such as for a place."""
    by_kind: dict[int, list[Remark]] = defaultdict(list)
    for each in [each for each in remarks if _is_lasting_question(each.text)][-_MOST_ASKED:]:
        by_kind[_asked_for(each.text)].append(each)
    for asked in by_kind.values():
        for group in groups([bare(each.text) for each in asked], vectors):
            yield [asked[number] for number in group], asked


def _since(remarks: Iterable[Remark], begin: datetime) -> list[Remark]:
    return [each for each in remarks if each.at > begin]


def _holding(core: frozenset[str], asked: Sequence[Remark]) -> int:
    """How many questions have all of these words."""
    return sum(core <= words_in(bare(each.text)) for each in asked)


def _asked_for(question: str) -> int:
    """The number of the words of a Chinese question that say what is asked for; -1 for none and for other languages."""
    return next((at for at, each in enumerate(word_lists("asked_for")) if each.search(question)), -1)


def _is_lasting_question(asked: str) -> bool:
    return is_question(asked) and not is_small_talk(asked) and bool(words_in(asked))


def _without_retries(alike: Sequence[Remark]) -> list[Remark]:
    """The questions of a group without those that only try again."""
    cases: list[Remark] = []
    for each in alike:
        if not cases or each.at - cases[-1].at > _RETRY:
            cases.append(each)
    return cases


def _first_line(reason: str) -> str:
    return next((line for line in reason.splitlines() if line.strip()), "")


def abandoned_tasks(activity: Activity, language: Language) -> tuple[Pattern, ...]:
    """The open tasks that were not touched for a week, nor spoken of, nor done elsewhere, nor are for a later day.

    Half of the tasks are done within a week, so that one which is still open after so many days is stuck with a
    probability of 1 - 2^(-days/7); after four weeks the interest in it fades with a half-life of two weeks.
    """
    done = {words_in(each) for each in activity.ticked}
    found = []
    for box in activity.boxes:
        words = words_in(box.text)
        since = max((box.since, *_spoken_of(activity, box, words), *_days_for(box)))
        if words and words not in done and activity.now - since >= UNTOUCHED:
            found.append(_abandoned(activity.now, language, box, since))
    return surest(found)


def _days_for(box: OpenBox) -> Iterator[datetime]:
    """The days that the task is for, as its text says; a day without a year is the next one after the task was
    written, if it was not shortly before."""
    days = [day for day in [parse_task_dates(box.text).day] if day is not None]
    for seen in dates_in(box.text):
        for year in (seen.year,) if seen.year else (box.since.year, box.since.year + 1):
            with suppress(ValueError):
                day = date(year, *seen.key)
                if seen.year or day >= box.since.date() - _SHORTLY:
                    days.append(day)
                    break
    return (in_clock_zone(datetime.combine(day, time()), box.since) for day in days)


def _spoken_of(activity: Activity, box: OpenBox, words: frozenset[str]) -> Iterator[datetime]:
    """When a task was spoken of since, other than in its own note."""
    later = (each for each in activity.remarks if each.at > box.since and each.link != box.link)
    return (each.at for each in later if len(words & words_in(each.text)) >= _SPOKEN_OF * len(words))


def _abandoned(now: datetime, language: Language, box: OpenBox, since: datetime) -> Pattern:
    days = (now - since).total_seconds() / 86_400
    sure = (1.0 - math.exp2(-days / _HALF_DONE)) * math.exp2(-max(0.0, days - _FRESH) / _FADES)
    subject = f"{box.link} {' '.join(sorted(words_in(box.text)))}"
    name = text("pattern.abandoned_task", language, task=quoted(box.text), day=since.date().isoformat())
    return Pattern("abandoned_task", subject, name, round(sure, 2), 1, since.date(), (box.link,), (box.text,))


_LEAST_DAYS, _LEAST_WEEKS = 4, 3
_SHARE = 0.6
"""A rhythm has at least this share of the days on which its topic comes up, and of the hours."""
_HOURS = 2
"""The hours of a window; a window begins at each hour."""
_AWAKE = 16
"""The hours over which activity at random would spread."""
_SLOTS = 24 + 7
"""The windows of a day and the days of a week; a slot is "07" (from 7 to 9 o'clock) or "day 1" (Monday)."""
_SMOOTHED = 10.0
"""The remarks at random that are taken for granted where a slot is compared with few others."""


def daily_rhythms(activity: Activity, language: Language) -> tuple[Pattern, ...]:
    """The rhythms of topics, against the rhythm of everything else, and of the work itself, against chance."""
    talk = [each for each in activity.of_kinds("asked", "stated") if each.is_timed]
    subjects: list[tuple[str, str, Sequence[Remark], Sequence[Remark]]] = []
    for topic in topics(talk, _LEAST_WEEKS):
        own = set(map(id, topic.remarks))
        rest = [each for each in talk if id(each) not in own]
        subjects.append((f"topic {topic.key}", topic.label, topic.remarks, rest))
    subjects.append(("asked", "", [each for each in talk if each.kind == "asked"], ()))
    subjects.append(("edited", "", activity.of_kinds("edited"), ()))
    found = []
    for subject, label, remarks, others in subjects:
        if (best := _best(remarks, others)) is not None:
            chance, slot, cases = best
            sure = confidence(chance, _SLOTS * len(subjects), cases, activity.now)
            found.append(_pattern(language, subject, label, slot, cases, sure))
    return surest(found)


def _best(remarks: Sequence[Remark], others: Sequence[Remark]) -> tuple[float, str, list[Remark]] | None:
    """The surest rhythm of these remarks: the tail of chance, the slot, and a case for each day; of two windows that
    overlap only one is true. None without one."""
    days, table, usual = len(days_of(remarks)), _by_slot(remarks), _by_slot(others)
    hourly, compared = (len(_one_an_hour(each)) for each in (remarks, others))
    ranked = []
    for slot, inside in sorted(table.items()):
        cases: dict[date, Remark] = {}
        for each in inside:
            cases.setdefault(each.at.date(), each)
        least = _LEAST_WEEKS if _is_weekday(slot) else _LEAST_DAYS
        if len(cases) >= max(least, _SHARE * days) and len(inside) >= _SHARE * hourly:
            share = 1 / 7 if _is_weekday(slot) else _HOURS / _AWAKE
            if others:
                share = (len(usual[slot]) + _SMOOTHED * share) / (compared + _SMOOTHED)
            ranked.append((poisson_tail(len(cases), _expected(slot, share, remarks)), slot, list(cases.values())))
    return min(ranked, key=lambda each: (each[0], -len(each[2])), default=None)


def _expected(slot: str, share: float, remarks: Sequence[Remark]) -> float:
    """The number of days on which a slot is to be expected to have at least one of these remarks, where each falls into
    it with a probability of `share`."""
    a_day = Counter(each.at.date() for each in _one_an_hour(remarks))
    return sum(share if _is_weekday(slot) else 1 - (1 - share) ** count for count in a_day.values())


def _by_slot(remarks: Iterable[Remark]) -> Mapping[str, Sequence[Remark]]:
    """The remarks, one an hour, in each slot."""
    table: dict[str, list[Remark]] = defaultdict(list)
    for each in _one_an_hour(remarks):
        for back in range(_HOURS):
            table[f"{(each.at.hour - back) % 24:02}"].append(each)
        table[f"day {each.at.weekday() + 1}"].append(each)
    return table


def _one_an_hour(remarks: Iterable[Remark]) -> list[Remark]:
    return list({(each.at.date(), each.at.hour): each for each in remarks}.values())


def _is_weekday(slot: str) -> bool:
    return slot.startswith("day")


def _pattern(language: Language, subject: str, label: str, slot: str, cases: Sequence[Remark], sure: float) -> Pattern:
    if _is_weekday(slot):
        when = text(f"pattern.weekday_{slot[-1]}", language)
    else:
        begin, end = int(slot), (int(slot) + _HOURS) % 24
        when = text("pattern.hours", language, begin=f"{begin}:00", end=f"{end}:00")
    key = "pattern.rhythm_topic" if label else f"pattern.rhythm_{subject}"
    name = text(key, language, topic=quoted(label), when=when, count=len(cases))
    subject = f"{subject} {slot[:3] if label else slot}"
    return pattern_of("daily_rhythm", subject, name, sure, cases, (label,) if label else ())
