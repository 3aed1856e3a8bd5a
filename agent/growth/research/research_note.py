"""The note of a research in `research/`: a section for each time it was done, with numbered sources.

Text of strangers and of models stands there escaped; a note with a stranger's text says so in its header
(`untrusted`), so that whoever is shown it takes it for that.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from urllib.parse import quote, urlsplit

from agent.growth.research.findings import Confidence, Dispute, ResearchFindings
from agent.growth.research.reading import Reading
from agent.growth.research.report import cited_line
from agent.growth.research.research_call import Research, ResearchKind
from agent.markdown.inertness.active import inert_line
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value
from agent.texts import Language, text
from agent.vault.change import Create, Edit, Request
from agent.vault.store import Vault

TYPE = "research"
_STRANGERS = 20
"""Strangers that are named in the header of a note."""
_SIGNS = re.compile(r"[\[\]|#^`]")


def body_of(found: ResearchFindings, readings: Mapping[int, Reading], language: Language) -> str:
    """The verdict on a fact; else the report of a model, or the statements, by question or by source."""
    report = [found.report.text] if found.report is not None else []
    if found.verdict is None:
        if report:
            return report[0]
        return _by_source(found, readings) if all(each.is_quoted for each in found.statements) else _by_question(found)
    against = "contradicts" if found.verdict == "refuted" else "supports"
    count = sum(each.says == against for each in found.stances)
    quotes: list[str] = []
    for each in found.stances:
        words = f": “{inert_line(each.quote)}”" if each.quote else ""
        stance = text(f"research.stance_{each.says}", language)
        quotes.append(f"- {source_link(readings[each.number])} [{each.number}] {stance}{words}")
    witnesses = "\n".join(quotes) or _by_source(found, readings)
    return "\n\n".join((text(f"research.verdict_{found.verdict}", language, count=count), *report, witnesses))


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
    vault: Vault, done: Research, kind: ResearchKind, topic: str, started: datetime, section: str, partial: str
) -> tuple[Request, ...]:
    """The requests that put a section into the note, in place of the `partial` one that an earlier attempt has left
    there; none if it stands there already. What else is in the note stays."""
    data = vault.read(done.path)
    note = Note.parse(data or b"")
    header: dict[str, Value] = {"kind": kind}
    if done.sources:
        header["confidence"] = done.confidence
    if done.findings.verdict is not None:
        header["verdict"] = done.findings.verdict
    if strangers := tuple(dict.fromkeys((*note.strings("untrusted"), *done.strangers[:_STRANGERS])))[:_STRANGERS]:
        header["untrusted"] = list(strangers)
    if data is None:
        created = started.replace(microsecond=0)
        head = {"id": vault.clock.new_id(), "type": TYPE, "title": topic, "created": created, **header}
        return (Create(done.path, Note.compose(head, f"# {inert_line(topic)}\n\n{section}\n").data),)
    if section in note.body:
        return ()
    if partial and partial in note.body:
        note = note.with_body(note.body.replace(partial, section, 1))
    else:
        note = note.with_body(f"{note.body.rstrip()}\n\n{section}\n")
    for key, value in header.items() if note.problem is None else ():
        note = note.with_key(key, value)
    return (Edit(done.path, data, note.data),)


def source_link(reading: Reading) -> str:
    """A link to a source, as it stands in a note."""
    title = plain_name(reading.title)
    if reading.is_public:
        target = quote(reading.address, safe=":/?&=%#@!$,;~+*'-._")
        return f"[{title or urlsplit(reading.address).hostname}]({target})"
    if reading.authority == "own":
        return f"[[{reading.address.removesuffix('.md')}]]"
    return f"`{title if reading.address == '.' else reading.address.replace('`', ' ')}`"


def plain_name(words: str) -> str:
    """Words of a stranger on one line, without a sign that means something in a link."""
    return " ".join(_SIGNS.sub(" ", inert_line(words)).split())


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
    """What is disputed, what is open, and the tools and methods."""
    named = {each.number: inert_line(each.text) for each in found.questions}
    gaps = [f"- {named.get(each.question, '')}{_after_colon(inert_line(each.words))}" for each in found.gaps]
    methods = [f"- **{inert_line(each.name)}**: {_cited(each.use, each.cites)}" for each in found.methods]
    where = text("research.methods_where", language)
    disputes = [row for each in found.disputes for row in _dispute(each, language)]
    lists = {"disputed": disputes, "open": gaps, "methods": [*methods, "", where] if methods else []}
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
    shown = text("research.comma", language).join(filter(None, words))
    return f"{reading.number}. {source_link(reading)} — {shown}"


def _after_colon(words: str) -> str:
    return f": {words}" if words else ""


def _cited(words: str, cites: Iterable[int]) -> str:
    return cited_line(inert_line(words), cites)


def _head(key: str, language: Language) -> str:
    return f"### {text(f'research.{key}', language)}"


def _word(confidence: Confidence, language: Language) -> str:
    return text(f"research.confidence_{confidence}", language)
