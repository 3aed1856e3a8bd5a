"""The text of a report, as a model writes it from the statements: checked sentence by sentence against what was
read."""

import re
from collections.abc import Iterable, Mapping, Sequence

from agent.growth.research.claims import CheckedText, Flaw, checked, split_sentences
from agent.growth.research.desk import ResearchDesk
from agent.growth.research.findings import ResearchFindings, by_question
from agent.growth.research.outline import ResearchQuestion
from agent.growth.research.statements import CitedStatement, Dispute
from agent.markdown.inertness.active import inert_blocks
from agent.texts import Language, text

_HEADING = re.compile(r"^(#{1,6})\s+(.*)$", re.MULTILINE)
_LEVEL = 3
"""The level of the headings in a report: above them are the topic and the day."""
_SOURCES = re.compile(
    r"\n#{1,6}\s*\W*(?:sources|references|来源|参考(?:资料|文献)?)\W*\n.*\Z", re.IGNORECASE | re.DOTALL
)
_SENTENCES = 5
_FEWEST_CHARACTERS = 20


def marks_in(language: Language) -> Mapping[Flaw, str]:
    """What stands behind a sentence with a flaw."""
    return {
        "no_source": f"*({text('research.no_source', language)})*",
        "no_figure": f"*({text('research.no_figure', language)})*",
        "no_quotation": f"*({text('research.no_quotation', language)})*",
    }


def report_of(desk: ResearchDesk, found: ResearchFindings) -> CheckedText | None:
    """A model's report on the statements; None if it has none of their sources."""
    if not found.statements or not desk.thinks:
        return None
    answer = desk.ask(
        "report",
        topic=desk.topic,
        questions=numbered_questions(found.questions),
        statements=_rows(found),
        disputes=_disputes(found.disputes) or "-",
        language=desk.language,
    )
    return checked_report(desk, answer)


def checked_report(desk: ResearchDesk, answer: str) -> CheckedText | None:
    """A model's text, checked, with its headings below those of the note, and doing nothing in an editor; None if no
    sentence of it has a source."""
    plain = _SOURCES.sub("", f"\n{answer}").strip()
    plain = _HEADING.sub(lambda found: f"{'#' * max(len(found[1]), _LEVEL)} {found[2]}", plain)
    found = checked(inert_blocks(plain), desk.readings, marks_in(desk.note_language))
    return found if found.cited else None


def short_of(desk: ResearchDesk, report: str) -> str:
    """A report in a few sentences, each with its sources and its figures: a model's, as far as it keeps to that, else
    the first ones of the report."""
    answer = desk.ask("short", fast=True, topic=desk.topic, report=report, most=str(_SENTENCES), language=desk.language)
    found = checked(inert_blocks(" ".join(answer.split())), desk.readings, marks_in(desk.note_language))
    sound = [each for each in found.sentences if each.flaw is None]
    if sound:
        return " ".join(cited_line(each.text, each.cites) for each in sound[:_SENTENCES])
    rows = [row for row in report.split("\n") if not row.lstrip().startswith(("#", "|", ">", "`"))]
    sentences = (each for row in rows for each in split_sentences(row.lstrip("-*0123456789. ")))
    whole = checked("\n".join(sentences), desk.readings, marks_in(desk.note_language))
    first = [each for each in whole.sentences if each.flaw is None and len(each.text) >= _FEWEST_CHARACTERS]
    return " ".join(cited_line(each.text, each.cites) for each in first[:_SENTENCES])


def cited_line(words: str, cites: Iterable[int]) -> str:
    """A sentence with the numbers of its sources before its full stop."""
    numbers = "".join(f"[{number}]" for number in cites)
    end = words[-1:] if words[-1:] in ".。!！?？" else ""
    body = words.removesuffix(end) if end else words
    return f"{body.rstrip()} {numbers}{end or '.'}" if body.isascii() or end == "." else f"{body}{numbers}{end or '。'}"


def numbered_questions(questions: Sequence[ResearchQuestion]) -> str:
    """The questions, a line each, with their numbers."""
    return "\n".join(f"{each.number}. {each.text}" for each in questions)


def _rows(found: ResearchFindings) -> str:
    parts: list[str] = []
    for question in found.questions:
        rows = [f"- {_row(each)}" for each in by_question(found.statements, question.number)]
        parts.append("\n".join([f"Question {question.number}:", *(rows or ["(nothing was found)"])]))
    return "\n\n".join(parts)


def _row(statement: CitedStatement) -> str:
    return f"{statement.text} {''.join(f'[{number}]' for number in statement.cites)}"


def _disputes(disputes: Iterable[Dispute]) -> str:
    return "\n".join(f"- {each.words or 'differs'}: {' / '.join(map(_row, each.sides))}" for each in disputes)
