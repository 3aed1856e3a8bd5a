"""Facts that people state, found by rules: sentences without questions, requests and reactions, each with its kind.

Conservative: only text with a common verb for lasting facts, that states a preference, or is about its person,
somebody, a number or a day. The choice of facts for MEMORY.md is left to `upkeep`.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from agent.config.resources import characters, pattern, words
from agent.index.analysis import terms
from agent.lazy import later
from agent.markdown.links import without_links
from agent.markdown.preferences import preferences
from agent.memory.understanding.seam import WISH, Fact, FactKind, SourceText
from agent.memory.understanding.wording import wording

if TYPE_CHECKING:
    from agent.times.when import follows_time
else:  # few sentences have such a wish
    follows_time = later("agent.times.when", "follows_time")


_TELLING, _TELLING_CHARACTERS = 3, 5
"""The least words (in scripts without spaces, characters) of a text without a common verb that states something."""
LONGEST = 300
"""The most characters of a fact: longer text is a pasted paragraph."""

COMMA = re.compile(r"[,，;](?!\d)")
"""What parts clauses: a comma, not between digits, or a semicolon."""
_FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1[^\n]*$|^>[^\n]*$", re.MULTILINE | re.DOTALL)
_QUOTED = re.compile(r'"[^"\n]{20,}"|“[^”\n]{8,}”|„[^“\n]{20,}“|«[^»\n]{20,}»|「[^」\n]{8,}」|『[^』\n]{8,}』')
_ENDS = re.compile(r"[.!?;](?:\s|\W?$)|[,，。！？；]")
"""What a quotation of sentences has in it, and one of a title has not."""
_CUT = re.compile(r" \.\.\. |…")
_BULLET = re.compile(r"(?:[-*+•#>]\s+|\d{1,3}[.)]\s+)+")
_WORD = re.compile(r"\w")
_KINDS = (
    ("decision", FactKind.DECISION),
    ("health", FactKind.HEALTH),
    ("self", FactKind.SELF),
    ("person", FactKind.PERSON),
    ("workflow", FactKind.WORKFLOW),
    ("routine", FactKind.WORKFLOW),
    ("standing", FactKind.PREFERENCE),
    ("taste", FactKind.PREFERENCE),
)
"""The lists by which a fact has its kind, the first that fits."""


def facts_in(source: SourceText) -> Iterator[Fact]:
    """The facts of a text in order, without quotations and code; of a sentence that also asks, wants something or tells
    of the moment, the parts between commas that do not."""
    for line in _FENCE.sub("", source.text).splitlines():
        for sentence in _sentences(line if source.verbatim else without_quotations(line)):
            is_whole = source.verbatim and not is_question(sentence)
            parts = (sentence,) if is_whole else _stating(sentence)
            yield from (Fact(part, kind_of(part), line.strip()) for part in parts)


def _stating(sentence: str) -> Iterator[str]:
    """The longest parts of a sentence, between commas, in which every clause may state something and one does; without
    requests that hang on them."""
    if is_lasting_wish(sentence) and not is_request(sentence):
        yield sentence
        return
    ends = [0, *(found.end() for found in pattern("clause_end").finditer(sentence)), len(sentence)]
    begin: int | None = None
    has_statement = False
    for start, end in zip(ends, [*ends[1:], len(sentence)], strict=True):
        clause = _without_lead(sentence[start:end])
        is_hanging = has_statement and pattern("hanging").match(_typed(sentence[start:end]).strip()) is not None
        if start < end and clause and not is_hanging and not _is_of_the_moment(clause):
            if begin is not None and _begins_anew(clause) and is_claim(part := _without_lead(sentence[begin:start])):
                yield part
                begin = start
            begin = start if begin is None else begin
            has_statement = True
            continue
        if begin is not None and is_claim(part := _without_lead(sentence[begin:start])):
            yield part
        begin = None


def _begins_anew(clause: str) -> bool:
    """True for a clause that states something by itself, with a subject of its own ("and I'm allergic to nuts") or of a
    day: what stays true before it is not told of that day."""
    typed = _typed(clause)
    is_new = pattern("own_subject").match(typed) or pattern("dated").search(typed)
    return is_new is not None and is_claim(clause)


def is_claim(text: str) -> bool:
    """True if a text without questions and requests states something: by its verb, or about the person, somebody, a
    number or a day. Links alone state nothing, whatever stands in the names of notes."""
    typed = _typed(text)
    if not _WORD.search(without_links(text)) or pattern("reaction").match(typed) or is_request(text):
        return False
    if pattern("workflow").search(typed) or preferences(text) or pattern("statement").search(typed):
        return len(terms(text)) > 1
    least = _TELLING if typed.isascii() else _TELLING_CHARACTERS
    parts = wording(text)
    is_about = any(pattern(name).search(typed) for name in ("anchor", "dated"))
    return is_about and len(parts.words) + len(parts.numbers) >= least


def _is_of_the_moment(clause: str) -> bool:
    """True for a clause that asks, wants something, or tells only of the moment."""
    typed = _typed(clause)
    return bool(is_question(clause) or is_request(clause) or pattern("passing").search(typed))


def is_statement(text: str) -> bool:
    """True for a text that states a fact."""
    return any(True for _ in facts_in(SourceText(text)))


def is_lasting_wish(sentence: str) -> bool:
    """True for a sentence that says how something is always to be done, not only now."""
    typed = " ".join(_typed(sentence).split())
    return len(typed) <= LONGEST and not is_question(typed) and pattern("standing").search(typed) is not None


def is_question(sentence: str) -> bool:
    """True for a question."""
    return pattern("question").search(_typed(sentence)) is not None


def is_request(sentence: str) -> bool:
    """True for a sentence that wants something done, forgotten, or brought to mind at a time."""
    typed = _typed(sentence)
    is_wish = any(pattern(name).match(typed) for name in ("request", "reminder", "forget"))
    words = pattern("reminding")
    is_wish = is_wish or (words.search(typed, 1) is not None and follows_time(typed, words, pattern("reminder")))
    day = None if is_wish else pattern("dated").match(typed)
    return is_wish or (day is not None and is_request(typed[day.end() :].lstrip(" ,，")))


def is_to_forget(sentence: str) -> bool:
    """True for a sentence that wants something to be forgotten."""
    return pattern("forget").match(_typed(sentence)) is not None


def only_asks(text: str) -> bool:
    """True for a text of questions that states nothing, not even in a clause; links beside them do not count."""
    sentences = [each for each in sentences_in(without_links(text)) if _WORD.search(each)]
    return bool(sentences) and all(map(is_question, sentences)) and not is_statement(text)


def tells_nothing(text: str) -> bool:
    """True for a text of questions and small talk that states nothing, or of one word; links beside them do not
    count."""
    if is_small_talk(text) or is_one_word(text):
        return True
    parts = [each for each in sentences_in(without_links(text)) if _WORD.search(each)]
    return all(is_question(each) or is_small_talk(each) for each in parts) and not is_statement(text)


def is_one_word(text: str) -> bool:
    """True for a text of one word; in scripts without spaces, of two characters."""
    plain = " ".join(re.findall(r"[\w'’-]+", text))
    return " " not in plain and (plain.isascii() or len(plain) <= _ONE_WORD)


def claims(text: str) -> str:
    """The text without questions, requests, quotations and code; one sentence per line."""
    stated = (each for each in sentences_in(text) if not is_question(each))
    return "\n".join(each for each in stated if not is_request(each))


def sentences_in(text: str) -> Iterator[str]:
    """The sentences of a text in order, without bullets, introductory words, quotations and code."""
    for line in _FENCE.sub("", text).splitlines():
        yield from _sentences(without_quotations(line))


def without_quotations(text: str) -> str:
    """The text without what it quotes in whole sentences: those are somebody else's, such as a stranger's in a mail."""
    return _QUOTED.sub(lambda found: "" if _ENDS.search(found[0][1:-1]) else found[0], text)


@cache
def _sentence() -> re.Pattern[str]:
    """A sentence: to its full stop, which is not that of an abbreviation or inside a word."""
    short = "|".join(map(re.escape, sorted(words("abbreviations"))))
    return re.compile(
        rf"(?:\b(?:{short})\.(?=\s\w)|[.!?](?<=\w.)(?=\w)|[^.!?。！？；\n])+[.!?。！？；]?", re.IGNORECASE
    )


def is_lasting(statement: str) -> bool:
    """True for a statement about the person that is rarely said twice: name, work, family, home, health, a lasting
    preference."""
    return pattern("lasting").search(_typed(statement)) is not None


def is_event(sentence: str) -> bool:
    """True for a statement of what happened on one day: it names that day, and says neither that something is no longer
    as it was, nor beside it what stays true."""
    parts = clauses(sentence) or (sentence,)
    others = [part for part in parts if pattern("dated").search(_typed(part)) is None]
    is_of_a_day = len(others) < len(parts)
    return is_of_a_day and not (pattern("change").search(_typed(sentence)) or any(map(is_lasting, others)))


def clauses(sentence: str) -> tuple[str, ...]:
    """The parts of a sentence between commas, without questions; none for a sentence of one part."""
    parts = tuple(plain for part in COMMA.split(sentence) if (plain := _without_lead(part)))
    return tuple(part for part in parts if not is_question(part)) if len(parts) > 1 else ()


def kind_of(sentence: str) -> FactKind:
    """The kind of a fact. A wish for always is no event, whatever day it names, as in "always begin with today"."""
    if is_event(sentence) and not pattern("from_now_on").match(_typed(sentence)):
        return FactKind.EVENT
    for name, kind in _KINDS:
        if pattern(name).search(_typed(sentence)):
            return kind
    return FactKind.PREFERENCE if preferences(sentence) else FactKind.OTHER


def named_kind(name: str, sentence: str) -> FactKind:
    """The kind of a fact for which a model has found this name, else that of the sentence; what an assistant is to do
    is a preference."""
    if name == WISH:
        return FactKind.PREFERENCE
    return FactKind(name) if name in set(FactKind) else kind_of(sentence)


def _sentences(line: str) -> Iterator[str]:
    for part in _CUT.split(line):
        for sentence in _whole_wishes(_sentence().findall(part)):
            plain = _without_lead(sentence)
            if plain and len(plain) <= LONGEST:
                yield plain


def _whole_wishes(sentences: Sequence[str]) -> Iterator[str]:
    """The sentences, with a wish for always and what belongs to it behind a Chinese semicolon as one: "no long
    paragraphs" says nothing without "when you compare". What states, asks or wants something by itself stays apart."""
    wish = ""
    for each in sentences:
        if wish and not (is_lasting_wish(each) or not (is_question(each) or is_request(each) or is_claim(each))):
            yield wish
            wish = ""
        wish += each
        if not (each.endswith("；") and is_lasting_wish(wish) and not is_request(wish)):
            yield wish
            wish = ""
    if wish:
        yield wish


def _without_lead(sentence: str) -> str:
    """The sentence without its bullet and introductory words."""
    text = sentence.strip()
    text = text[found.end() :] if (found := _BULLET.match(text)) else text
    while (found := pattern("lead").match(_typed(text))) and found.end():
        text = text[found.end() :]
    return text.strip(" \t\r-*•·,，;；")


def _typed(text: str) -> str:
    """The text with straight apostrophes, as in the patterns."""
    return text.replace("’", "'")


_LONGEST_TALK = 300
_ONE_WORD = 2
"""Characters from which a text is never small talk, and would be slow to scan."""
_BREAK = re.compile(r"[\s,，、。.!！?？;；:：~～…]+")


def is_small_talk(task: str) -> bool:
    """True for a task that is only small talk."""
    return bool(task.strip()) and not _WORD.search(without_phrases(task))


def without_phrases(task: str) -> str:
    """The task without its small talk; in Chinese only whole clauses are removed. Long tasks are unchanged."""
    if len(task) > _LONGEST_TALK:
        return task
    text = _phrases().sub(" ", " ".join(task.replace("’", "'").split()))
    return " ".join(part for part in _BREAK.split(text) if part and not _is_small_talk(part))


@cache
def _phrases() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'’])(?:{pattern('small_talk').pattern})(?![\w'’-])", re.IGNORECASE)


@cache
def _clause() -> re.Pattern[str]:
    endings = f"[{''.join(sorted(characters('small_talk_endings')))}]*"
    return re.compile(f"{endings}(?:{pattern('small_talk_clauses').pattern}){endings}")


def _is_small_talk(clause: str) -> bool:
    """True for a clause made only of such phrases; matched from left to right without backtracking."""
    at = 0
    while at < len(clause) and (found := _clause().match(clause, at)):
        at = found.end()
    return at == len(clause)
