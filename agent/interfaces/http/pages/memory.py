"""Memory: a search with its reasons, the days with what was remembered on them, and forgetting."""

from calendar import Calendar
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from pathlib import PurePosixPath

from agent.errors import UserError
from agent.index.query import Hit
from agent.interfaces.http.pages.page import Deed, Done, Page, PageRequest
from agent.interfaces.http.pages.today import parse_day
from agent.markdown.session_marks import is_mark
from agent.memory.forgetting.forget import carry_out, plan_named
from agent.memory.memory_note import parse_facts
from agent.memory.store import entries_on_day, entry_paths_on
from agent.texts import Language
from agent.vault.folders import DAILY, ENTRIES, MEMORY_NOTE, Recalled
from agent.workspace.workspace import Workspace

_HITS, _WIDER = 20, 4
"""Hits that are shown, and how many times as many passages are looked at: most notes are no memories."""

_LOG = 0.6
"""The factor for a day's log: it is before a memory only if it fits much better."""
_MUCH_LESS = 0.5
"""The share of the best score below which a hit is shown only when asked for."""


def show(request: PageRequest) -> Mapping[str, object]:
    """A search's hits, or a month and one day of it."""
    workspace, query = request.workspace, request.field("q")
    day = parse_day(request.field("day"), request.now.date())
    first = day.replace(day=1)
    found = entries_on_day(workspace.vault, day)
    log = workspace.vault.home.day_note(day)
    notes = workspace.vault.note_paths(workspace.vault.home.at(ENTRIES))
    return {
        "q": query,
        **_found(request, query),
        "day": day,
        "today": request.now.date(),
        "weeks": _weeks(workspace, first),
        "before": first - timedelta(days=1),
        "after": (first + timedelta(days=32)).replace(day=1),
        "entries": found.new,
        "again": found.again,
        "log": log if workspace.vault.read(log) is not None else "",
        "kept": sum(PurePosixPath(path).parent.name.isdigit() for path in notes),  # those in the folder of a month
        "facts": len(parse_facts(_memory_note(workspace))),
    }


def _memory_note(workspace: Workspace) -> str:
    return (workspace.vault.read(workspace.vault.home.at(MEMORY_NOTE)) or b"").decode("utf-8", "replace")


def _found(request: PageRequest, query: str) -> dict[str, object]:
    """The hits, those that fit much less than the best apart, and the paths of those that are single memories."""
    hits = _search(request, query) if query else ()
    least = hits[0].score * _MUCH_LESS if hits else 0.0
    home = request.workspace.vault.home
    return {
        "hits": [each for each in hits if each.score >= least],
        "weak": [each for each in hits if each.score < least],
        "single": {each.path for each in hits if home.holds(each.path, ENTRIES)},
    }


def _search(request: PageRequest, query: str) -> tuple[Hit, ...]:
    """The best passages of what is remembered, of a day's log only the best one: it repeats what was asked, and the
    memories that were found for it."""
    home = request.workspace.vault.home
    with request.service.index.held() as index:
        found = index.search(query, _HITS * _WIDER, passages=True, explain=True)
    hits: dict[object, Hit] = {}
    for hit in found.hits:
        is_log = home.holds(hit.path, DAILY)
        if hit.is_of_note and home.row(hit.path).recalled is Recalled.AS_MEMORY:
            key = hit.path if is_log else (hit.path, hit.lines)
            hits.setdefault(key, replace(hit, score=hit.score * _LOG) if is_log else hit)
    return tuple(sorted(hits.values(), key=lambda hit: -hit.score)[:_HITS])


def _weeks(workspace: Workspace, first: date) -> list[list[tuple[date, bool]]]:
    """The weeks of a month, each day with whether something was remembered or logged on it."""
    vault = workspace.vault

    def has_note(day: date) -> bool:
        log = vault.place.root / vault.home.day_note(day)
        return day.month == first.month and (log.is_file() or bool(entry_paths_on(vault, day)))

    weeks = Calendar().monthdatescalendar(first.year, first.month)
    return [[(day, has_note(day)) for day in week] for week in weeks]


def show_forgetting(request: PageRequest) -> Mapping[str, object]:
    """What would be forgotten with a note or a text; changes nothing."""
    name = request.field("name")
    planned = plan_named(request.workspace.vault, name, _language(request)) if name else None
    changed = planned.changed if planned else ()
    lost = {each.path: [row for row in each.gone if row.strip() and not is_mark(row)] for each in changed}
    return {"name": name, "planned": planned, "lost": lost}


def forget(request: PageRequest) -> Done:
    """Forget a note or a text; the person has seen what goes."""
    workspace, name = request.workspace, request.needed("name")
    planned = plan_named(workspace.vault, name, _language(request))
    seen = request.needed("seen")
    if str(len(planned.gone) + len(planned.changed)) != seen:
        raise UserError("more or less would go by now than you have seen", hint="look at it again")
    outcome = carry_out(workspace.vault, planned, _language(request), confirmed=True)
    return Done(request.text("undo_waits" if outcome.queued else "forgotten"), "" if outcome.queued else "/memory")


def _language(request: PageRequest) -> Language:
    """The language of what is written into the vault."""
    return request.workspace.settings.vault.language


PAGE = Page("memory", "/memory", show, "m")
FORGET = Page("forget", "/memory/forget", show_forgetting, under="memory", is_live=False)
DEEDS = (Deed("/memory/forget", forget),)
