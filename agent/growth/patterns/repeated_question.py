"""`repeated_question`: what the person has asked again and again, in whatever words."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from agent.config.resources import patterns as word_lists
from agent.growth.patterns.activity import Activity, Remark
from agent.growth.patterns.confidence import confidence, poisson_tail
from agent.growth.patterns.likeness import Vectors, core_of, groups, words_in
from agent.growth.patterns.pattern import Pattern, newest_links, quoted, surest
from agent.growth.patterns.topics import bare
from agent.memory.understanding.statements import is_question, is_small_talk
from agent.texts import Language, text

_LEAST = 3
_MOST_ASKED = 400
"""The newest questions that are compared with each other: limits the time."""
_RETRY = timedelta(minutes=10)
"""The same asked again within this time is another try, not another question."""
_COMMON, _OWN = 0.7, 0.6
"""Questions that have less in common than the first share of their words are of one topic, and not the same question;
so are those that are less than the second share of all questions with their common words."""
_USUAL, _WEIGHT = 1.0, 10.0
"""Where little is known, one question in ten is taken to be asked once more."""
_SUBJECT = 3


def repeated_questions(activity: Activity, language: Language, vectors: Vectors | None) -> tuple[Pattern, ...]:
    """The questions that were asked at least three times.

    The base rate is how many of the questions that are no pattern were asked a second time: where everything is asked
    twice, three times says little.
    """
    asked = [each for each in activity.of_kinds("asked") if _is_lasting_question(each.text)][-_MOST_ASKED:]
    raw = [group for same in _by_what_is_asked(asked) for group in _alike(same, vectors)]
    found = [_apart(group) for group in raw]
    once, twice = (sum(len(group) == number for group in found) for number in (1, 2))
    mean = (twice + _USUAL) / (once + _WEIGHT)
    patterns = []
    for every, group in zip(raw, found, strict=True):
        core, share = core_of([bare(each.text) for each in group])
        kind = _kind(group[0].text)
        with_core = sum(core <= words_in(bare(each.text)) for each in asked if _kind(each.text) == kind)
        if len(group) < _LEAST or share < _COMMON or len(every) < _OWN * with_core:
            continue
        sure = confidence(poisson_tail(len(group) - 1, mean), len(found), (each.at for each in group), activity.now)
        patterns.append(_pattern(language, group, core, sure))
    return surest(patterns)


def _by_what_is_asked(asked: Sequence[Remark]) -> Iterator[list[Remark]]:
    """The questions by what they ask for, as the words around their subject are taken out."""
    kinds = dict.fromkeys(_kind(each.text) for each in asked)
    return ([each for each in asked if _kind(each.text) == kind] for kind in kinds)


def _alike(asked: Sequence[Remark], vectors: Vectors | None) -> Iterator[list[Remark]]:
    return ([asked[number] for number in group] for group in groups([bare(each.text) for each in asked], vectors))


def _kind(question: str) -> int:
    """The number of the words of a Chinese question that say what is asked for; -1 for none and for other languages."""
    return next((at for at, each in enumerate(word_lists("asked_for")) if each.search(question)), -1)


def _is_lasting_question(asked: str) -> bool:
    return is_question(asked) and not is_small_talk(asked) and bool(words_in(asked))


def _apart(group: Sequence[Remark]) -> list[Remark]:
    """The questions of a group without those that only try again."""
    kept: list[Remark] = []
    for each in group:
        if not kept or each.at - kept[-1].at > _RETRY:
            kept.append(each)
    return kept


def _pattern(language: Language, group: Sequence[Remark], core: frozenset[str], sure: float) -> Pattern:
    says = quoted(group[-1].text)
    return Pattern(
        "repeated_question",
        " ".join(sorted(core)[:_SUBJECT]) or group[0].text.casefold(),
        text("pattern.repeated_question", language, question=says, count=len(group)),
        sure,
        len(group),
        group[-1].at.date(),
        newest_links((each.at, each.link) for each in group),
        text("pattern.repeated_question_suggestion", language),
        tuple(each.text for each in group),
    )
