"""What happened: a day as one time line of runs, jobs, notices and changes, each with its undo."""

from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import date, datetime, time, timedelta

from markupsafe import Markup

from agent.app.notice_ledger import open_ledger
from agent.attention.receipt import NoticeReceipt, Reaction
from agent.clock import in_clock_zone
from agent.dataclass import dataclass
from agent.deeds.changes import take_back as take_back_changes
from agent.deeds.notices import react as react_to
from agent.errors import UserError
from agent.events.notices import NoticeRaised
from agent.events.runs import parse_record_subject
from agent.interfaces.http.pages.commit_words import commit_words
from agent.interfaces.http.pages.markdown import html_of
from agent.interfaces.http.pages.page import Deed, Done, Page, PageRequest
from agent.loop.outcome import RunOutcome
from agent.runs.job_upkeep import job_rows, job_shelf
from agent.schedule.history import HistoryRow
from agent.schedule.job import Job
from agent.vault.change import FORGET, Kind
from agent.vault.folders import APPROVALS, DAILY, QUESTIONS, SESSIONS
from agent.vault.history.commit_index import HUMAN
from agent.vault.history.commits import Commit, resolve
from agent.vault.history.difference import FileDifference, of_commit
from agent.vault.history.find import commits
from agent.vault.history.undo_choice import Selection

MOST = 300
"""Things of a day that are shown; a day with more says how many are left out."""
_FILES = 6
MCP = "mcp:"
"""What the name of another program begins with, where it is the author of a change."""
OUTCOMES = ("interrupted", "failed", "limit", "needs_approval", "question_asked")
"""How a run can have ended other than well, as the commit of its record says."""


@dataclass(frozen=True, slots=True)
class DayRow:
    """One thing on the time line. `undo` is what the button sends: a commit's or a run's id; empty for no button.

    `commits` are its changes, newest first; `job` and `row` are set for a job's run, `notice` for a notice.
    """

    at: datetime
    kind: str
    title: str
    commits: tuple[Commit, ...] = ()
    session: str = ""
    undo: str = ""
    is_undone: bool = False
    job: Job | None = None
    row: HistoryRow | None = None
    notice: NoticeReceipt | None = None
    html: Markup = Markup()
    """What a notice says below its title."""
    area: str = ""
    """What a commit's subject begins with, such as `skills(history)`, where there are no words for it."""
    outcome: str = ""
    """How a run ended, in words; empty if well."""
    program: str = ""
    """The other program that made the changes, as it calls itself."""
    files: tuple[str, ...] = ()
    """The changed files, each once; of a run without the records of what was said, asked and decided."""


def show(request: PageRequest) -> Mapping[str, object]:
    """One day, the latest first; `day` of the query says which, today if there is none."""
    now = request.now
    day = parse_day(request.field("day"), now.date())
    found = happenings(request, day)
    return {
        "day": day,
        "before": day - timedelta(days=1),
        "after": day + timedelta(days=1) if day < now.date() else None,
        "happened": found[:MOST],
        "left": max(0, len(found) - MOST),
        "most": _FILES,
    }


def happenings(request: PageRequest, day: date) -> list[DayRow]:
    """What happened on a day, the latest first."""
    begin, end = (in_clock_zone(datetime.combine(each, time()), request.now) for each in (day, day + timedelta(days=1)))
    changes = [*_changes(request, begin, end)]
    listed = {each.session for each in changes if each.session}
    found = [*changes, *_jobs(request, begin, end, listed), *_notices(request, begin, end)]
    return sorted(found, key=lambda each: each.at, reverse=True)


def parse_day(text: str, today: date) -> date:
    """A day as ISO writes it, today for the empty text; raises `UserError`."""
    try:
        return date.fromisoformat(text) if text else today
    except ValueError:
        raise UserError("{text} is not a day", hint="write it as 2023-05-08, 2023-05 or 2023", text=text) from None


def _changes(request: PageRequest, begin: datetime, end: datetime) -> Iterator[DayRow]:
    """The commits of a day; those of one conversation are one thing."""
    made = commits(request.own_vault, since=begin, until=end - timedelta(microseconds=1))
    undone = {oid for each in made for oid in each.undoes}
    groups: dict[str, list[Commit]] = {}
    for each in made:
        groups.setdefault(each.session or each.run.partition(".")[0] or each.id, []).append(each)
    for group in groups.values():
        runs = {each.run.partition(".")[0] for each in group if each.run}
        outcome, title = _record(group)
        area, words = ("", title) if title else commit_words(request.language, group[-1].subject)
        what = f"run:{min(runs)}" if len(runs) == 1 else group[0].id
        yield DayRow(
            group[0].when,
            _kind(group),
            words,
            tuple(group),
            next((each.session for each in group if each.session), ""),
            what if any(each.files for each in group) else "",
            all(each.id in undone for each in [each for each in group if not each.undoes] or group),
            area=area,
            outcome=_ended(request, outcome),
            program=group[0].actor.removeprefix(MCP) if group[0].actor.startswith(MCP) else "",
            files=_files(request, group),
        )


def _kind(group: Sequence[Commit]) -> str:
    newest = group[0]
    if any(each.job for each in group):
        return "job"
    if newest.session or newest.run:
        return "run"
    return "edit" if newest.actor == HUMAN and not newest.tool and not newest.claims else "change"


def _record(group: Sequence[Commit]) -> tuple[str, str]:
    """How a run ended and what was asked, as its record says; empty for other commits."""
    return next(filter(None, (parse_record_subject(each.subject) for each in group)), ("", ""))


def _ended(request: PageRequest, outcome: str) -> str:
    if outcome in OUTCOMES:
        return request.text(f"ended_{outcome}")
    return "" if outcome in (RunOutcome.FINISHED, "done") else outcome


def _files(request: PageRequest, group: Sequence[Commit]) -> tuple[str, ...]:
    home = request.workspace.vault.home
    found = dict.fromkeys(
        change.path for each in group for change in each.files if each.tool != FORGET or change.kind is Kind.EDITED
    )  # the names of what is forgotten tell of it
    own = tuple(path for path in found if not home.holds(path, SESSIONS, DAILY, APPROVALS, QUESTIONS))
    return own if any(each.session for each in group) else tuple(found)


def _jobs(request: PageRequest, begin: datetime, end: datetime, listed: Set[str]) -> Iterator[DayRow]:
    """The runs of jobs that left no change of their own, and whose session is not `shown` by its record."""
    vault = request.workspace.vault
    for job in job_shelf(request.workspace).load().jobs:
        for row in job_rows(vault, job.id):
            at = row.started or row.planned
            if begin <= at < end and not row.is_changed and row.session not in listed:
                yield DayRow(at, "job", job.title or job.id, session=row.session, job=job, row=row)


def _notices(request: PageRequest, begin: datetime, end: datetime) -> Iterator[DayRow]:
    for each in open_ledger(request.workspace).all():
        if begin <= each.at < end:
            yield DayRow(each.at, "notice", each.raised.title, notice=each, html=_notice_html(request, each.raised))


def _notice_html(request: PageRequest, raised: NoticeRaised) -> Markup:
    """What a notice says, as Markdown; of a decision that waits only its note, where all of it stands."""
    return html_of(request, "", "\n\n".join(raised.lines[-1:] if raised.decides else raised.lines))


def show_change(request: PageRequest) -> Mapping[str, object]:
    """One commit with its differences."""
    vault = request.own_vault
    oid = resolve(vault, request.named["commit"])
    found = next((each for each in commits(vault, revision=oid, limit=1) if each.id == oid), None)
    files: list[FileDifference] = of_commit(vault, oid)
    patches = [each.patch.decode("utf-8", "replace") for each in files]
    return {"commit": found, "files": list(zip(files, patches, strict=True)), "id": oid}


def take_back(request: PageRequest) -> Done:
    """Undo a commit, or all of a run; with `partial`, what can be undone of it."""
    what = request.needed("what")
    run = what.removeprefix("run:") if what.startswith("run:") else ""
    selection = Selection(run=run) if run else Selection(commits=(what,))
    result = take_back_changes(request.own_vault, selection, partial=bool(request.field("partial")))
    if result.queued:
        return Done(request.text("undo_waits"))
    return Done(request.text("undone" if result.files else "undo_nothing"))


def react(request: PageRequest) -> Done:
    """Say what a notice was worth."""
    reaction: Reaction = "helpful" if request.needed("reaction") == "helpful" else "dismissed"
    react_to(request.workspace, request.needed("id"), reaction)
    return Done(request.text("reacted"))


PAGE = Page("today", "/today", show, "t")
CHANGE = Page("change", "/changes/{commit}", show_change, under="today", is_live=False)
DEEDS = (Deed("/today/undo", take_back), Deed("/today/notice", react))
