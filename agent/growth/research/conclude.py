"""Makes the result of a research from what was found: its note, its memory, and how it ended."""

from collections.abc import Mapping, Sequence

from agent.growth.research.desk import ResearchDesk
from agent.growth.research.findings import ResearchFindings, confidence_of
from agent.growth.research.kinds import LIMITS
from agent.growth.research.knowledge import Conclusion, memory_requests, method_requests
from agent.growth.research.known_facts import KnownFact
from agent.growth.research.outline import whole_topic
from agent.growth.research.research_call import Research, ResearchCall, ResearchEnd
from agent.growth.research.research_note import (
    ResearchFacts,
    body_of,
    header_of,
    requests_of,
    section_of,
    strangers_of,
)
from agent.growth.research.researcher import ResearchGround
from agent.growth.research.source import Reading
from agent.growth.research.vault_source import NAME as VAULT
from agent.growth.research.write_report import short_of
from agent.runs.service import RunService
from agent.texts import text


def concluded(
    runs: RunService,
    call: ResearchCall,
    desk: ResearchDesk,
    ground: ResearchGround,
    found: ResearchFindings,
    *,
    is_stopped: bool,
) -> Research:
    """The result, with its requests. The record of one that was stopped or cut by a limit stays, so that the same
    research goes on from there; the note has a section that is replaced then."""
    record, readings = desk.record, dict(desk.readings)
    body = body_of(found, readings, desk.note_language) if readings else ""
    short = "" if is_stopped else short_of(desk, body)
    end = _end(desk, is_stopped=is_stopped)
    why, strangers = _why(desk, end), strangers_of(readings.values())
    money = runs.account.spent(record.run).money
    facts = ResearchFacts(
        call.kind,
        record.started,
        desk.budget.used,
        desk.budget.most,
        desk.asked,
        money,
        record.used_seconds,
        _names(desk, ground, call),
        dict(desk.failures),
        why,
        _remarks(desk, ground, call),
    )
    section = runs.workspace.vault.masked(section_of(found, readings, facts, short, desk.note_language))
    header = header_of(facts, found, readings)
    requests = requests_of(runs.workspace.vault, call.path, call.topic, section, header, record.partial)
    learns = _learns(runs, desk, end, readings)
    if learns:
        at = runs.workspace.clock.now()
        requests += memory_requests(runs, Conclusion(call.topic, short, call.path, at, record.run, strangers))
        requests += method_requests(runs, found.methods, call.path, readings, at)
    return Research(
        end,
        call.path,
        tuple(each for _, each in sorted(readings.items())),
        desk.budget.used,
        desk.budget.most,
        desk.asked,
        money,
        record.run,
        short,
        body,
        found,
        confidence_of(found, readings),
        requests,
        strangers,
        found.methods if learns else (),
        desk.models is None,
        record.is_resumed,
        why,
        record.end if end in ("done", "nothing") else lambda: record.note_partial(section),
        remarks=tuple(facts.remarks),
    )


def checked_before(known: KnownFact, topic: str) -> Research:
    """The result of a fact that an earlier check answers: its note is the one source, and nothing is to be written."""
    source = Reading(1, known.path, topic, known.text, known.day.isoformat(), "own", VAULT, ", ".join(known.untrusted))
    found = ResearchFindings((whole_topic(topic),), verdict=known.verdict)
    return Research(
        "done",
        known.path,
        (source,),
        0,
        LIMITS["fact"].calls,
        0,
        0.0,
        "",
        "",
        known.text,
        found,
        known.confidence,
        strangers=known.untrusted,
        is_plain=False,
        checked=known.day,
    )


def _learns(runs: RunService, desk: ResearchDesk, end: ResearchEnd, readings: Mapping[int, Reading]) -> bool:
    """True if something is kept of it beside its note: a whole report of a model, unless growth is switched off."""
    is_report = end == "done" and bool(readings) and desk.models is not None
    return is_report and runs.workspace.settings.growth.enabled


def _end(desk: ResearchDesk, *, is_stopped: bool) -> ResearchEnd:
    if is_stopped:
        return "stopped"
    if desk.trouble is not None:
        return "limit" if desk.is_over_the_limit else "no_model"
    return "done" if desk.readings else "nothing"


def _why(desk: ResearchDesk, end: ResearchEnd) -> str:
    """Why a research is not whole, in a sentence; empty if it is."""
    language = desk.note_language
    match end:
        case "stopped":
            return text("research.stopped", language, calls=desk.budget.used, most=desk.budget.most)
        case "limit" | "no_model":
            reason = desk.trouble.message if desk.trouble is not None else ""
            return text("research.no_more_model", language, reason=reason)
        case "done" | "nothing":
            return text("research.late", language) if desk.budget.is_late else ""


def _names(desk: ResearchDesk, ground: ResearchGround, call: ResearchCall) -> list[str]:
    """Where was searched."""
    names = [each.name for each in call.folders[:1]] if call.kind == "repository" else []
    names += [each.name for each in ground.own]
    names += [ground.web.name] if ground.web is not None else []
    return [text("research.the_vault", desk.note_language) if each == VAULT else each for each in names]


def _remarks(desk: ResearchDesk, ground: ResearchGround, call: ResearchCall) -> Sequence[str]:
    """What a reader should know of how it was done."""
    language = desk.note_language
    remarks = [text("research.plain", language)] if desk.models is None else []
    if ground.is_offline:
        remarks.append(text("research.web_is_off", language))
    elif ground.web is None or not ground.web.engines:
        remarks.append(text("research.no_engine", language))
    if call.kind == "repository" and not call.folders:
        remarks.append(text("research.no_folder", language))
    return remarks
