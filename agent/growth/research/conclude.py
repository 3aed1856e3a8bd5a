"""Makes the result of a research from what was found: how it ended, its note, and what is remembered of it.

The memory is a model's conclusion with its evidence. If it rests on text of strangers, the entry names them: such a
memory is given only to who asks for it, framed, and nothing of it becomes a fact about the person or a rule.
"""

from collections.abc import Iterator
from dataclasses import replace

from agent.errors import LimitReached
from agent.growth.research.desk import ResearchDesk
from agent.growth.research.findings import (
    Research,
    ResearchEnd,
    ResearchFindings,
    confidence_of,
)
from agent.growth.research.own_sources import NAME as VAULT
from agent.growth.research.research_note import body_of, note_requests, plain_name, section_of, short_of
from agent.markdown.inertness.active import inert_line
from agent.markdown.links import note_link
from agent.memory.capture.dedupe import changes_of
from agent.memory.capture.writer import EntryWriter
from agent.memory.entry import MODEL, Entry, EntryType
from agent.memory.forgetting.tombstones import load_tombstones
from agent.runs.service import RunService
from agent.texts import text
from agent.vault.change import Create, Edit, Request

_FAILED = 8
"""Addresses that gave nothing, and are named."""
_LONGEST = 1_200
"""The most characters of a memory."""
_NAMED = 20
"""Strangers that a memory names."""


def concluded(desk: ResearchDesk, found: ResearchFindings, *, is_stopped: bool) -> Research:
    """The result, with its requests."""
    runs, call, calls, language = desk.runs, desk.call, desk.calls, desk.language
    vault = runs.workspace.vault
    readings = dict(sorted(desk.readings.items()))
    body = body_of(found, readings, language) if readings else ""
    end = "stopped" if is_stopped else _end(desk)
    done = Research(
        end,
        call.path,
        tuple(readings.values()),
        found,
        confidence_of(found, readings),
        body,
        calls.most,
        calls.used,
        desk.asked,
        runs.account.spent(calls.run).money,
        calls.run,
        "" if is_stopped else short_of(found),
        strangers=tuple(dict.fromkeys(each.origin for each in readings.values() if each.origin)),
        learns=end == "done" and desk.models is not None and runs.workspace.settings.growth.enabled,
        is_plain=desk.models is None,
        why=_why(desk, end),
        remarks=tuple(_remarks(desk)),
    )
    section = vault.masked(section_of(done, calls.started, list(_how(desk, done)), language))
    requests = note_requests(vault, done, call, calls.started, section)
    if done.learns:
        requests += tuple(_memory(runs, call.topic, done))
    return replace(done, requests=requests)


def _end(desk: ResearchDesk) -> ResearchEnd:
    if desk.trouble is not None:
        return "limit" if isinstance(desk.trouble, LimitReached) else "no_model"
    return "done" if desk.readings else "nothing"


def _why(desk: ResearchDesk, end: ResearchEnd) -> str:
    """Why a research is not whole, in a sentence; empty if it is."""
    if end == "stopped":
        return text("research.stopped", desk.language, calls=desk.calls.used, most=desk.calls.most)
    if desk.trouble is not None:
        return text("research.no_more_model", desk.language, reason=desk.trouble.message)
    return text("research.late", desk.language) if desk.calls.is_late else ""


def _remarks(desk: ResearchDesk) -> Iterator[str]:
    """Remarks for the reader on how it was done."""
    if desk.models is None:
        yield text("research.plain", desk.language)
    if desk.is_offline:
        yield text("research.web_is_off", desk.language)
    elif desk.web is None or not desk.web.engines:
        yield text("research.no_engine", desk.language)
    if desk.call.kind == "repository" and not desk.call.folders:
        yield text("research.no_folder", desk.language)


def _how(desk: ResearchDesk, done: Research) -> Iterator[str]:
    """How it was done, a line each."""
    language, call = desk.language, desk.call
    yield text(
        f"research.did_{call.kind}",
        language,
        calls=done.calls,
        most=done.most,
        asked=done.asked,
        money=f"{done.money:.4f}",
        minutes=f"{desk.calls.seconds / 60:.1f}",
    )
    sources = [*call.folders[:1], *desk.own] if call.kind == "repository" else [*desk.own]
    names = [each.name for each in (*sources, *([desk.web] if desk.web is not None else []))]
    named = [text("research.the_vault", language) if each == VAULT else each for each in names]
    yield text("research.searched", language, names=text("research.comma", language).join(named))
    found = done.findings
    for key, count in (("flawed", found.report.flawed if found.report is not None else 0), ("refused", found.refused)):
        yield from [text(f"research.{key}", language, count=count)] if count else []
    yield from done.remarks
    yield from _failures(desk)


def _failures(desk: ResearchDesk) -> Iterator[str]:
    failed = [f"`{plain_name(what)}` ({inert_line(why)})" for what, why in desk.failures.items()]
    if failed:
        more = len(failed) - _FAILED
        rest = text("research.and_more", desk.language, count=more) if more > 0 else ""
        yield text("research.not_read", desk.language, names=", ".join(failed[:_FAILED]) + rest)


def _memory(runs: RunService, topic: str, done: Research) -> Iterator[Request]:
    """The requests that remember a conclusion, compared with what is known; none for one that was forgotten, or where
    memory is switched off."""
    vault, settings = runs.workspace.vault, runs.workspace.settings
    words = vault.masked(f"{topic}: {done.short}")[:_LONGEST]
    if settings.memory.capture == "off" or not done.short or load_tombstones(vault).is_forgotten(words):
        return
    entry = Entry(
        vault.clock.new_id(),
        runs.workspace.clock.now(),
        words,
        type=EntryType.RESEARCH,
        source=MODEL,
        slots={"run": done.run},
        evidence=(note_link(done.path),),
        untrusted=done.strangers[:_NAMED],
    )
    verdict = EntryWriter(vault, runs.recall.near, settings.vault.language).judged(entry)
    for path, before, after in changes_of(verdict, vault.home):
        yield Create(path, after) if before is None else Edit(path, before, after)
