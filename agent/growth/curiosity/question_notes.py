"""The notes in `questions/` in which the agent asks by itself: how one is written, and what becomes of it.

An answer is remembered as the person's own words, and one about a belief counts for it. Without an answer in time, the
note says what was done instead. Nothing else is decided by them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath

from agent.events.runs import HumanResponse
from agent.growth.beliefs.from_choices import ANSWERED_AT, belief_header
from agent.growth.curiosity.asking import AskedBefore
from agent.growth.curiosity.gap import CuriousGap
from agent.markdown.note import Note
from agent.markdown.values import Value
from agent.memory.entry import Entry, EntryType
from agent.runs.decisions import Question, read_question
from agent.texts import Language, text
from agent.tools.builtin.human import answer_heading, split_answer
from agent.vault.change import Create, Edit, Request
from agent.vault.folders import ARCHIVE, QUESTIONS
from agent.vault.store import Vault

GAP, URGENCY, FALLBACK = "gap", "urgency", "fallback"
SOURCE = "question"
"""The source of an entry that has an answer."""


@dataclass(frozen=True, slots=True)
class SettledQuestions:
    """What is to be written for the questions that are over, and what the person has answered."""

    requests: tuple[Request, ...] = ()
    answers: tuple[HumanResponse, ...] = ()


def question_note(vault: Vault, gap: CuriousGap, now: datetime, days: float, language: Language) -> Create:
    """The note that asks about a gap."""
    at = now.replace(microsecond=0)
    until = at + timedelta(days=days)
    header: dict[str, Value] = {
        "id": vault.clock.new_id(),
        "type": "question",
        "created": at,
        "status": "open",
        GAP: gap.key,
        URGENCY: gap.urgency,
        FALLBACK: gap.fallback,
        "expires": until,
    }
    if gap.dimension is not None:
        header |= {key: list(values) for key, values in belief_header(gap.dimension, gap.values).items()}
    soon = "curiosity.urgent" if gap.urgency == "high" else "curiosity.not_urgent"
    more = {} if gap.urgency == "high" else {"until": until}
    about = [text("curiosity.why", language, why=gap.why)]
    about += [text("curiosity.shown_in", language, link=gap.source)] if gap.source else []
    about += [gap.fallback, text(soon, language, **more)]
    boxes = ["\n".join(f"- [ ] {option}" for option in gap.options)] if gap.options else []
    body = "\n\n".join([f"# {gap.question}", *about, *boxes, answer_heading(language), ""])
    name = f"{QUESTIONS}{at:%Y-%m-%d}-{gap.kind}-{gap.key[:6]}.md"
    return Create(vault.home.at(name), Note.compose(header, f"{body}\n").data)


def asked_before(vault: Vault) -> AskedBefore:
    """What was asked before, by whomever, as it counts here."""
    open_count, times, keys = 0, list[datetime](), set[str]()
    for path, note in _notes(vault):
        if note.string("status") == "open" and vault.home.holds(path, QUESTIONS):
            asked = read_question(vault, path)
            open_count += asked is not None and not asked.answer
        if key := note.string(GAP):
            keys.add(key)
            created = note.header.get("created")
            times += [created] if note.string(URGENCY) and isinstance(created, datetime) else []
    return AskedBefore(open_count, tuple(sorted(times)), frozenset(keys))


def is_curious(vault: Vault, question: Question) -> bool:
    """True for a question that the agent asks by itself."""
    note = Note.parse(vault.own_version(question.path) or b"")
    return bool(note.string(GAP) and note.string(URGENCY))


def settle_questions(vault: Vault, now: datetime, language: Language) -> SettledQuestions:
    """What becomes of the questions that were answered or are over; a question that waits stays as it is."""
    requests, answers = list[Request](), list[HumanResponse]()
    for path, note in _notes(vault):
        if not note.string(GAP) or note.string("run") or note.string("status") != "open":
            continue
        asked, data = read_question(vault, path), vault.read(path)
        if asked is None or data is None or data != note.data or not vault.home.holds(path, QUESTIONS):
            continue
        if asked.answer:
            result = text("curiosity.remembered", language, at=now)
            dated = note.with_key(ANSWERED_AT, now.replace(microsecond=0))
            requests += [_closed(path, data, dated, "answered", result), _entry(vault, asked, now)]
            answers.append(HumanResponse(asked.id, path, asked.answer, now))
        elif asked.expires is not None and now >= asked.expires:
            fallback = note.string(FALLBACK) or ""
            result = text("curiosity.expired", language, at=asked.expires, fallback=fallback).strip()
            requests.append(_closed(path, data, note, "expired", result))
    return SettledQuestions(tuple(requests), tuple(answers))


def _closed(path: str, data: bytes, note: Note, status: str, result: str) -> Edit:
    above, _ = split_answer(note.body)
    body = f"{above.rstrip()}\n\n→ {result}\n\n{note.body[len(above) :].lstrip()}"
    return Edit(path, data, note.with_body(body).with_key("status", status).data)


def _entry(vault: Vault, asked: Question, now: datetime) -> Create:
    """The answer as a memory: the person's own words first, then what was asked."""
    title = asked.text.strip().partition("\n")[0]
    link = f"[[{PurePosixPath(asked.path).with_suffix('').as_posix()}]]"
    words = f"{asked.answer}\n\n({title})"
    made = Entry(vault.clock.new_id(), now, words, EntryType.FACT, source=SOURCE, evidence=(link,))
    return Create(vault.home.at(made.path), made.note())


def _notes(vault: Vault) -> Iterator[tuple[str, Note]]:
    """The notes with questions, also those that were put away, as they count as the person's."""
    for folder in (QUESTIONS, ARCHIVE + QUESTIONS):
        place = Path(vault.place.root, vault.home.at(folder))
        for file in sorted(place.glob("*.md")) if place.is_dir() else ():
            path = file.relative_to(vault.place.root).as_posix()
            note = Note.parse(vault.own_version(path) or b"")
            if note.type == "question":
                yield path, note
