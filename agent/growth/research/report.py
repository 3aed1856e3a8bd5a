"""The text of a report, as a model writes it from the statements: checked sentence by sentence against what was
read."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from agent.growth.research.claims import CheckedText, Flaw, checked, split_sentences
from agent.growth.research.desk import ResearchDesk
from agent.growth.research.findings import ResearchFindings, numbered_rows
from agent.markdown.inertness.active import inert_blocks
from agent.texts import Language, text

_HEADING = re.compile(r"^(#{1,6})\s+(.*)$", re.MULTILINE)
_LEVEL = 3
"""The level of the headings in a report: above them are the topic and the day."""
_SOURCES = re.compile(
    r"\n#{1,6}\s*\W*(?:sources|references|来源|参考(?:资料|文献)?)\W*\n.*\Z", re.IGNORECASE | re.DOTALL
)
_NOTHING = "(nothing was found)"
_SENTENCES = 5
_FEWEST_CHARACTERS = 20


def marks_in(language: Language) -> Mapping[Flaw, str]:
    """What stands behind a sentence with a flaw."""
    flaws: tuple[Flaw, ...] = ("no_source", "no_figure", "no_quotation")
    return {flaw: f"*({text(f'research.{flaw}', language)})*" for flaw in flaws}


def reported(desk: ResearchDesk, found: ResearchFindings) -> ResearchFindings:
    """The findings with a model's report on their statements; without one if it has none of their sources, or none can
    be asked. Raises `Interrupted`."""
    if not found.statements:
        return found
    parts = [(each.number, [f"- {row.numbered}" for row in found.of_question(each.number)]) for each in found.questions]
    statements = "\n\n".join(f"Question {number}:\n" + "\n".join(rows or [_NOTHING]) for number, rows in parts)
    sides = [(each.words or "differs", " / ".join(side.numbered for side in each.sides)) for each in found.disputes]
    disputes = "\n".join(f"- {words}: {rows}" for words, rows in sides) or "-"
    questions = numbered_rows(found.questions)
    answer = desk.write("report", questions=questions, statements=statements, disputes=disputes)
    return replace(found, report=checked_report(desk, answer))


def checked_report(desk: ResearchDesk, answer: str) -> CheckedText | None:
    """A model's text, checked, with its headings below those of the note, and doing nothing in an editor; None if no
    sentence of it has a source."""
    plain = _SOURCES.sub("", f"\n{answer}").strip()
    plain = _HEADING.sub(lambda found: f"{'#' * max(len(found[1]), _LEVEL)} {found[2]}", plain)
    found = _checked(desk, inert_blocks(plain))
    return found if found.cited else None


def short_of(desk: ResearchDesk, report: str) -> str:
    """The first sentences of a report that have their sources and figures, each with its numbers: those before its
    first heading, which answer what was asked, if there are any."""
    rows = [row for row in report.partition("\n#")[0].split("\n") if not row.lstrip().startswith(("#", "|", ">", "`"))]
    sentences = (each for row in rows for each in split_sentences(row.lstrip("-*0123456789. ")))
    checked_ones = _checked(desk, "\n".join(sentences)).sentences
    sound = [each for each in checked_ones if each.flaw is None and len(each.text) >= _FEWEST_CHARACTERS]
    return " ".join(cited_line(each.text, each.cites) for each in sound[:_SENTENCES])


def cited_line(words: str, cites: Iterable[int]) -> str:
    """A sentence with the numbers of its sources before its full stop."""
    numbers = "".join(f"[{number}]" for number in cites)
    end = words[-1:] if words.endswith((".", "。", "!", "！", "?", "？")) else ""
    body = words.removesuffix(end)
    if body.isascii() or end == ".":
        return f"{body.rstrip()} {numbers}{end or '.'}"
    return f"{body}{numbers}{end or '。'}"


def _checked(desk: ResearchDesk, words: str) -> CheckedText:
    return checked(words, desk.readings, marks_in(desk.language))
