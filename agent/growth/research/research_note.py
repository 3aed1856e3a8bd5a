"""The note of a research in `research/`: a section for each time it was done, with numbered sources.

Text of strangers and of models stands there escaped; a note with a stranger's text says so in its header
(`untrusted`), so that whoever is shown it takes it for that.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from urllib.parse import quote, urlsplit

from agent.dataclass import dataclass
from agent.growth.research.authority import is_strong
from agent.growth.research.findings import Confidence, ResearchFindings, by_question, confidence_of
from agent.growth.research.kinds import ResearchKind
from agent.growth.research.source import Reading
from agent.growth.research.write_report import cited_line
from agent.markdown.inertness.active import inert_line
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value
from agent.texts import Language, text
from agent.vault.change import Create, Edit, Request
from agent.vault.store import Vault

TYPE = "research"
_FAILED = 8
"""Addresses that gave nothing, and are named."""
_STRANGERS = 20
"""Strangers that are named in the header of a note."""
_SIGNS = re.compile(r"[\[\]|#^`]")


@dataclass(frozen=True, slots=True)
class ResearchFacts:
    """What is said of how it was done. `asked` are the answers of models, `money` US dollars; `searched` names the
    sources, `failures` what gave nothing. `why` says why it is not whole (empty: it is), `remarks` what else
    matters."""

    kind: ResearchKind
    started: datetime
    calls: int
    most: int
    asked: int
    money: float
    seconds: float
    searched: Sequence[str]
    failures: Mapping[str, str]
    why: str = ""
    remarks: Sequence[str] = ()


def body_of(found: ResearchFindings, readings: Mapping[int, Reading], language: Language) -> str:
    """The report of a model, or the statements, by question or by source."""
    if found.verdict is not None:
        return _fact(found, readings, language)
    if found.report is not None:
        return found.report.text
    if any(not each.is_quoted for each in found.statements):
        return _by_question(found)
    return _by_source(found, readings)


def section_of(
    found: ResearchFindings, readings: Mapping[int, Reading], facts: ResearchFacts, short: str, language: Language
) -> str:
    """The section of a note, below its heading with the day and the hour."""
    confidence = confidence_of(found, readings)
    parts = [f"## {facts.started:%Y-%m-%d %H:%M}"]
    parts += [f"> [!warning] {facts.why}"] if facts.why else []
    if not readings:
        return "\n\n".join([*parts, text("research.nothing", language), _how(found, facts, language)])
    body = body_of(found, readings, language)
    parts += [f"{_bold('in_short', language)} {short}"] if short and short not in body else []
    said = text(
        "research.confidence_line",
        language,
        confidence=_word(confidence, language),
        cited=len(found.cited),
        count=len(readings),
    )
    parts += [f"*{said}*", body]
    parts += _parts(found, language)
    parts += [_head("sources", language), _sources(found, readings, language), _how(found, facts, language)]
    return "\n\n".join(filter(None, parts))


def requests_of(
    vault: Vault, path: str, topic: str, section: str, header: Mapping[str, Value], partial: str
) -> tuple[Request, ...]:
    """The requests that put a section into the note, in place of the `partial` one that an earlier attempt has left
    there; none if it stands there already. What else is in the note stays."""
    data = vault.read(path)
    if data is None:
        head = {"id": vault.clock.new_id(), "type": TYPE, "title": topic, **header}
        return (Create(path, Note.compose(head, f"# {inert_line(topic)}\n\n{section}\n").data),)
    note = Note.parse(data)
    if section in note.body:
        return ()
    if partial and partial in note.body:
        note = note.with_body(note.body.replace(partial, section, 1))
    else:
        note = note.with_body(f"{note.body.rstrip()}\n\n{section}\n")
    if note.problem is None:
        kept = {key: value for key, value in header.items() if key not in ("created", "untrusted")}
        strangers = tuple(dict.fromkeys((*note.strings("untrusted"), *_texts(header.get("untrusted")))))
        for key, value in {**kept, **({"untrusted": list(strangers[:_STRANGERS])} if strangers else {})}.items():
            note = note.with_key(key, value)
    return (Edit(path, data, note.data),)


def header_of(facts: ResearchFacts, found: ResearchFindings, readings: Mapping[int, Reading]) -> dict[str, Value]:
    """What the header of a note says of its last section."""
    header: dict[str, Value] = {"created": facts.started.replace(microsecond=0), "kind": facts.kind}
    if readings:
        header["confidence"] = confidence_of(found, readings)
    if found.verdict is not None:
        header["verdict"] = found.verdict
    if strangers := strangers_of(readings.values()):
        header["untrusted"] = list(strangers[:_STRANGERS])
    return header


def strangers_of(readings: Iterable[Reading]) -> tuple[str, ...]:
    """The sources whose text is not the person's."""
    return tuple(dict.fromkeys(each.origin for each in readings if each.origin))


def source_link(reading: Reading) -> str:
    """A link to a source, as it stands in a note."""
    title = " ".join(_SIGNS.sub(" ", inert_line(reading.title)).split())
    if reading.is_public:
        target = quote(reading.address, safe=":/?&=%#@!$,;~+*'-._")
        return f"[{title or urlsplit(reading.address).hostname}]({target})"
    if reading.authority == "own":
        return f"[[{reading.address.removesuffix('.md')}]]"
    return f"`{title if reading.address == '.' else reading.address.replace('`', ' ')}`"


def _fact(found: ResearchFindings, readings: Mapping[int, Reading], language: Language) -> str:
    count = sum(each.says == ("contradicts" if found.verdict == "refuted" else "supports") for each in found.stances)
    rows = [text(f"research.verdict_{found.verdict}", language, count=count)]
    rows += [found.report.text] if found.report is not None else []
    quotes: list[str] = []
    for each in found.stances:
        said = text(f"research.stance_{each.says}", language)
        words = f": “{inert_line(each.quote)}”" if each.quote else ""
        quotes.append(f"- {source_link(readings[each.number])} [{each.number}] {said}{words}")
    if not found.stances:
        return "\n\n".join([*rows, _by_source(found, readings)])
    return "\n\n".join([*rows, "\n".join(quotes)])


def _by_question(found: ResearchFindings) -> str:
    parts: list[str] = []
    for question in found.questions:
        rows = [f"- {_cited(each.text, each.cites)}" for each in by_question(found.statements, question.number)]
        parts += [f"### {inert_line(question.text)}", "\n".join(rows)] if rows else []
    return "\n\n".join(parts)


def _by_source(found: ResearchFindings, readings: Mapping[int, Reading]) -> str:
    parts: list[str] = []
    for number in found.cited:
        rows = [f"- “{inert_line(each.text)}”" for each in found.statements if number in each.cites]
        parts += [f"### {source_link(readings[number])} [{number}]", "\n".join(dict.fromkeys(rows))]
    return "\n\n".join(parts)


def _parts(found: ResearchFindings, language: Language) -> list[str]:
    parts: list[str] = []
    if found.disputes:
        rows: list[str] = []
        for each in found.disputes:
            words = inert_line(each.words) or text("research.differs", language)
            rows += [f"- {words}", *(f"  - {_cited(side.text, side.cites)}" for side in each.sides)]
        parts += [_head("disputed", language), "\n".join(rows)]
    if found.gaps:
        named = {each.number: inert_line(each.text) for each in found.questions}
        rows = [f"- {named.get(each.question, '')}" + (f": {inert_line(each.words)}" if each.words else "")
                for each in found.gaps]  # fmt: skip
        parts += [_head("open", language), "\n".join(rows)]
    if found.methods:
        rows = [f"- **{inert_line(each.name)}**: {_cited(each.use, each.cites)}" for each in found.methods]
        parts += [_head("methods", language), "\n".join(rows), text("research.methods_where", language)]
    return parts


def _sources(found: ResearchFindings, readings: Mapping[int, Reading], language: Language) -> str:
    rows: list[str] = []
    for number, each in sorted(readings.items()):
        grade: Confidence = "high" if is_strong(each.authority) or each.authority == "own" else "medium"
        grade = "low" if each.is_excerpt or each.authority in ("forum", "page") else grade
        said = [text(f"research.authority_{each.authority}", language)]
        said += [each.date] if each.date else [text("research.undated", language)]
        said += [text("research.confidence", language, confidence=_word(grade, language))]
        said += [text("research.excerpt", language)] if each.is_excerpt else []
        said += [] if number in found.cited else [text("research.not_cited", language)]
        rows.append(f"{number}. {source_link(each)} — {text('research.comma', language).join(said)}")
    return "\n".join(rows)


def _how(found: ResearchFindings, facts: ResearchFacts, language: Language) -> str:
    rows = [
        text(
            f"research.did_{facts.kind}",
            language,
            calls=facts.calls,
            most=facts.most,
            asked=facts.asked,
            money=f"{facts.money:.4f}",
            minutes=f"{facts.seconds / 60:.1f}",
        ),
        text("research.searched", language, names=text("research.comma", language).join(facts.searched)),
    ]
    flawed = len(found.report.sentences) - found.report.count(None) if found.report is not None else 0
    rows += [text("research.flawed", language, count=flawed)] if flawed else []
    rows += [text("research.refused", language, count=found.refused)] if found.refused else []
    rows += list(facts.remarks)
    failed = [f"`{_SIGNS.sub(' ', inert_line(what))}` ({inert_line(why)})" for what, why in facts.failures.items()]
    if failed:
        more = text("research.and_more", language, count=len(failed) - _FAILED) if len(failed) > _FAILED else ""
        rows.append(text("research.not_read", language, names=", ".join(failed[:_FAILED]) + more))
    return f"{_head('how', language)}\n\n" + "\n".join(f"- {row}" for row in rows)


def _cited(words: str, cites: Iterable[int]) -> str:
    return cited_line(inert_line(words), cites)


def _head(key: str, language: Language) -> str:
    return f"### {text(f'research.{key}', language)}"


def _bold(key: str, language: Language) -> str:
    return f"**{text(f'research.{key}', language)}**"


def _word(confidence: Confidence, language: Language) -> str:
    return text(f"research.confidence_{confidence}", language)


def _texts(value: Value) -> Sequence[str]:
    return [str(each) for each in value] if isinstance(value, list | tuple) else ()
