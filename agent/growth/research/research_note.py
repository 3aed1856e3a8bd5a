"""The report of a research: its text as a model writes it, checked sentence by sentence against what was read, and its
note in `research/`, with a section for each time it was done and with numbered sources.

Text of strangers and of models stands there escaped; a note with a stranger's text says so in its header
(`untrusted`), so that whoever is shown it takes it for that.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from urllib.parse import quote, urlsplit

from agent.growth.research.claims import CheckedText, Flaw, checked
from agent.growth.research.desk import ResearchDesk
from agent.growth.research.findings import (
    Confidence,
    Dispute,
    FactStance,
    Research,
    ResearchCall,
    ResearchFindings,
    numbered_rows,
)
from agent.growth.research.reading import Reading
from agent.markdown.inertness.active import inert_blocks, inert_line
from agent.markdown.links import note_link
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value
from agent.texts import Language, text
from agent.vault.change import Create, Edit, Request
from agent.vault.store import Vault

_HEADING = re.compile(r"^(#{1,6})\s+(.*)$", re.MULTILINE)
_LEVEL = 3
"""The level of the headings in a report: above them are the topic and the day."""
_SOURCES = re.compile(
    r"\n#{1,6}\s*\W*(?:sources|references|来源|参考(?:资料|文献)?)\W*\n.*\Z", re.IGNORECASE | re.DOTALL
)
_SENTENCES = 5
_FEWEST_CHARACTERS = 20
_STRANGERS = 20
"""Strangers that are named in the header of a note."""
_SIGNS = re.compile(r"[\[\]|#^`]")


def marks_in(language: Language) -> Mapping[Flaw, str]:
    """The marks behind sentences with a flaw."""
    flaws: tuple[Flaw, ...] = ("no_source", "no_figure", "no_quotation")
    return {flaw: f"*({text(f'research.{flaw}', language)})*" for flaw in flaws}


def reported(desk: ResearchDesk, found: ResearchFindings) -> ResearchFindings:
    """The findings with a model's report on their statements; without one if it has none of their sources, or none can
    be asked. Raises `Interrupted`."""
    if not found.statements:
        return found
    statements = "\n\n".join(_rows(found, each.number) for each in found.questions)
    sides = [(each.words or "differs", " / ".join(side.numbered for side in each.sides)) for each in found.disputes]
    disputes = "\n".join(f"- {words}: {rows}" for words, rows in sides) or "-"
    questions = numbered_rows(found.questions)
    answer = desk.write("report", questions=questions, statements=statements, disputes=disputes)
    return replace(found, report=checked_report(desk, answer))


def _rows(found: ResearchFindings, question: int) -> str:
    rows = [f"- {each.numbered}" for each in found.of_question(question)] or ["(nothing was found)"]
    return "\n".join((f"Question {question}:", *rows))


def checked_report(desk: ResearchDesk, answer: str) -> CheckedText | None:
    """A model's text, checked, with its headings below those of the note, and doing nothing in an editor; None if no
    sentence of it has a source."""
    plain = _SOURCES.sub("", f"\n{answer}").strip()
    plain = _HEADING.sub(lambda found: f"{'#' * max(len(found[1]), _LEVEL)} {found[2]}", plain)
    found = checked(inert_blocks(plain), desk.readings, marks_in(desk.language))
    return found if found.cited else None


def short_of(found: ResearchFindings) -> str:
    """The first sentences of the report that have their sources and figures, or of what models have read out, each with
    its numbers: a report begins with what was asked. Empty where sources are only quoted."""
    if found.report is not None:
        sentences = ((each.text, each.cites) for each in found.report.sentences if each.flaw is None)
    else:
        sentences = ((inert_line(each.text), each.cites) for each in found.statements if not each.is_quoted)
    lines = [cited_line(*each) for each in sentences if len(each[0]) >= _FEWEST_CHARACTERS and each[0][0] != "|"]
    return " ".join(lines[:_SENTENCES])


def cited_line(words: str, cites: Iterable[int]) -> str:
    """A sentence with the numbers of its sources before its full stop."""
    numbers = "".join(f"[{number}]" for number in cites)
    end = words[-1:] if words.endswith((".", "。", "!", "！", "?", "？")) else ""
    body = words.removesuffix(end)
    if body.isascii() or end == ".":
        return f"{body.rstrip()} {numbers}{end or '.'}"
    return f"{body}{numbers}{end or '。'}"


def body_of(found: ResearchFindings, readings: Mapping[int, Reading], language: Language) -> str:
    """The verdict on a fact; else the report of a model, or the statements, by question or by source."""
    report = found.report.text if found.report is not None else ""
    if found.verdict is None:
        is_quoted = all(each.is_quoted for each in found.statements)
        return report or (_by_source(found, readings) if is_quoted else _by_question(found))
    against = "contradicts" if found.verdict == "refuted" else "supports"
    count = sum(each.says == against for each in found.stances)
    verdict = text(f"research.verdict_{found.verdict}", language, count=count)
    stances = "\n".join(_stance(each, readings[each.number], language) for each in found.stances)
    return "\n\n".join(filter(None, (verdict, report, stances or _by_source(found, readings))))


def section_of(done: Research, started: datetime, how: Sequence[str], language: Language) -> str:
    """The section of a note, below its heading with the day and the hour; `how` are the lines on how it was done."""
    found = done.findings
    parts = [f"## {started:%Y-%m-%d %H:%M}", f"> [!warning] {done.why}" if done.why else ""]
    if done.sources:
        confidence = text(
            "research.confidence_line",
            language,
            confidence=_word(done.confidence, language),
            cited=len(found.cited),
            count=len(done.sources),
        )
        parts += [f"*{confidence}*", done.text, *_parts(found, language)]
        parts += [_head("sources", language), "\n".join(_source(each, found.cited, language) for each in done.sources)]
    else:
        parts.append(text("research.nothing", language))
    parts += [_head("how", language), "\n".join(f"- {row}" for row in how)]
    return "\n\n".join(filter(None, parts))


def note_requests(
    vault: Vault, done: Research, call: ResearchCall, started: datetime, section: str
) -> tuple[Request, ...]:
    """The requests that put a section at the end of the note. What else is in the note stays."""
    data = vault.read(done.path)
    note = Note.parse(data or b"")
    header = _header(note, done, call)
    if data is None:
        created = started.replace(microsecond=0)
        header = {"id": vault.clock.new_id(), "type": "research", "title": call.topic, "created": created, **header}
        return (Create(done.path, Note.compose(header, f"# {inert_line(call.topic)}\n\n{section}\n").data),)
    note = note.with_body(f"{note.body.rstrip()}\n\n{section}\n")
    for key, value in header.items() if note.problem is None else ():
        note = note.with_key(key, value)
    return (Edit(done.path, data, note.data),)


def _header(note: Note, done: Research, call: ResearchCall) -> dict[str, Value]:
    """The header of a note, about its last section; the strangers are those of all its sections."""
    strangers = list(dict.fromkeys((*note.strings("untrusted"), *done.strangers)))[:_STRANGERS]
    values: dict[str, Value] = {"kind": call.kind, "confidence": done.confidence if done.sources else None}
    values |= {"verdict": done.findings.verdict, "untrusted": strangers or None}
    return {key: value for key, value in values.items() if value is not None}


def source_link(reading: Reading) -> str:
    """A link to a source, as it stands in a note."""
    title = plain_name(reading.title)
    if reading.is_public:
        target = quote(reading.address, safe=":/?&=%#@!$,;~+*'-._")
        return f"[{title or urlsplit(reading.address).hostname}]({target})"
    if reading.authority == "own":
        return note_link(reading.address)
    return f"`{title if reading.address == '.' else reading.address.replace('`', ' ')}`"


def plain_name(words: str) -> str:
    """Words of a stranger on one line, without a sign that means something in a link."""
    return " ".join(_SIGNS.sub(" ", inert_line(words)).split())


def _stance(stance: FactStance, reading: Reading, language: Language) -> str:
    words = _after_colon(f"“{inert_line(stance.quote)}”" if stance.quote else "")
    return f"- {source_link(reading)} [{stance.number}] {text(f'research.stance_{stance.says}', language)}{words}"


def _by_question(found: ResearchFindings) -> str:
    parts: list[str] = []
    for question in found.questions:
        rows = [f"- {_cited(each.text, each.cites)}" for each in found.of_question(question.number)]
        parts += [f"### {inert_line(question.text)}", "\n".join(rows)] if rows else []
    return "\n\n".join(parts)


def _by_source(found: ResearchFindings, readings: Mapping[int, Reading]) -> str:
    parts: list[str] = []
    for number in found.cited:
        rows = [f"- “{inert_line(each.text)}”" for each in found.statements if number in each.cites]
        parts += [f"### {source_link(readings[number])} [{number}]", "\n".join(dict.fromkeys(rows))]
    return "\n\n".join(parts)


def _parts(found: ResearchFindings, language: Language) -> list[str]:
    """The parts on disputes, open questions, and tools and methods."""
    named = {each.number: inert_line(each.text) for each in found.questions}
    gaps = [f"- {named.get(each.question, '')}{_after_colon(inert_line(each.words))}" for each in found.gaps]
    methods = [f"- **{inert_line(each.name)}**: {_cited(each.use, each.cites)}" for each in found.methods]
    disputes = [row for each in found.disputes for row in _dispute(each, language)]
    lists = {"disputed": disputes, "open": gaps, "methods": methods}
    return [part for key, rows in lists.items() if rows for part in (_head(key, language), "\n".join(rows))]


def _dispute(dispute: Dispute, language: Language) -> Sequence[str]:
    sides = [f"  - {_cited(side.text, side.cites)}" for side in dispute.sides]
    return [f"- {inert_line(dispute.words) or text('research.differs', language)}", *sides]


def _source(reading: Reading, cited: Sequence[int], language: Language) -> str:
    """The line of a source: what it is, its day, and how sure it is by itself."""
    grade: Confidence = "high" if reading.is_strong else "medium"
    if reading.is_excerpt or reading.authority in ("forum", "page"):
        grade = "low"
    words = [
        text(f"research.authority_{reading.authority}", language),
        reading.date or text("research.undated", language),
        text("research.confidence", language, confidence=_word(grade, language)),
        text("research.excerpt", language) if reading.is_excerpt else "",
        text("research.not_cited", language) if reading.number not in cited else "",
    ]
    details = text("research.comma", language).join(filter(None, words))
    return f"{reading.number}. {source_link(reading)} — {details}"


def _after_colon(words: str) -> str:
    return f": {words}" if words else ""


def _cited(words: str, cites: Iterable[int]) -> str:
    return cited_line(inert_line(words), cites)


def _head(key: str, language: Language) -> str:
    return f"### {text(f'research.{key}', language)}"


def _word(confidence: Confidence, language: Language) -> str:
    return text(f"research.confidence_{confidence}", language)
