"""Facts that people state, found by rules: sentences without questions, requests and reactions, each with its kind.

Conservative: only sentences with a common verb for lasting facts, or that state a preference. The choice of facts for
MEMORY.md is left to `upkeep`.
"""

import re
from collections.abc import Iterator

from agent.markdown.preferences import preferences
from agent.memory.understanding.seam import Fact, FactKind, SourceText
from agent.memory.understanding.vocabulary import pattern

LONGEST = 300
"""The most characters of a fact: longer text is a pasted paragraph."""

_SENTENCE = re.compile(r"[^.!?。！？；\n]+(?:[.!?](?=\w)[^.!?。！？；\n]*)*[.!?。！？；]?")
_COMMA = re.compile(r"[,，](?!\d)")
_FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1[^\n]*$|^>[^\n]*$", re.MULTILINE | re.DOTALL)
_CUT = re.compile(r" \.\.\. |…")
_BULLET = re.compile(r"(?:[-*+•#>]\s+|\d{1,3}[.)]\s+)+")
_LINK_ALONE = re.compile(r"^\W*\[\[[^\]\n]*\]\]\W*$", re.MULTILINE)
_KINDS = (
    ("decision", FactKind.DECISION),
    ("person", FactKind.PERSON),
    ("workflow", FactKind.WORKFLOW),
)


def facts_in(source: SourceText) -> Iterator[Fact]:
    """The facts of a text in order, without quotations and code; of a question or request, the facts in its clauses."""
    for line in _FENCE.sub("", source.text).splitlines():
        for sentence in _sentences(line):
            is_whole = not is_question(sentence) and (source.verbatim or _is_statement(sentence))
            parts = (sentence,) if is_whole else tuple(part for part in clauses(sentence) if _is_statement(part))
            yield from (Fact(part, kind_of(part), line.strip()) for part in parts)


def is_statement(text: str) -> bool:
    """True for a text that states a fact."""
    return any(True for _ in facts_in(SourceText(text)))


def is_question(sentence: str) -> bool:
    """True for a question."""
    return pattern("question").search(_typed(sentence)) is not None


def only_asks(text: str) -> bool:
    """True for a text of questions that states nothing, not even in a clause; links beside them do not count."""
    lines = _FENCE.sub("", _LINK_ALONE.sub("", text)).splitlines()
    sentences = [sentence for line in lines for sentence in _sentences(line)]
    return bool(sentences) and all(map(is_question, sentences)) and not is_statement(text)


def claims(text: str) -> str:
    """The text without questions, requests, quotations and code; one sentence per line."""
    lines = (sentence for line in _FENCE.sub("", text).splitlines() for sentence in _sentences(line))
    return "\n".join(each for each in lines if not is_question(each) and not pattern("request").match(_typed(each)))


def clauses(sentence: str) -> tuple[str, ...]:
    """The parts of a sentence between commas, without questions; none for a sentence of one part."""
    parts = tuple(plain for part in _COMMA.split(sentence) if (plain := _without_lead(part)))
    return tuple(part for part in parts if not is_question(part)) if len(parts) > 1 else ()


def kind_of(sentence: str) -> FactKind:
    """The kind of a fact."""
    for name, kind in _KINDS:
        if pattern(name).search(_typed(sentence)):
            return kind
    return FactKind.PREFERENCE if preferences(sentence) else FactKind.OTHER


def _sentences(line: str) -> Iterator[str]:
    for part in _CUT.split(line):
        for sentence in _SENTENCE.findall(part):
            plain = _without_lead(sentence)
            if plain and len(plain) <= LONGEST:
                yield plain


def _without_lead(sentence: str) -> str:
    """The sentence without its bullet and introductory words."""
    text = sentence.strip()
    text = text[found.end() :] if (found := _BULLET.match(text)) else text
    while (found := pattern("lead").match(_typed(text))) and found.end():
        text = text[found.end() :]
    return text.strip(" \t\r-*•·,，")


def _is_statement(sentence: str) -> bool:
    typed = _typed(sentence)
    if pattern("request").match(typed):
        return False
    wanted = pattern("workflow").search(typed) or preferences(sentence)
    return bool(wanted or (pattern("statement").search(typed) and not pattern("reaction").match(typed)))


def _typed(text: str) -> str:
    """The text with straight apostrophes, as in the patterns."""
    return text.replace("’", "'")
