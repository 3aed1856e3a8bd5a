"""One run of a job's text, and what came of it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

from agent.channel_names import OF_JOBS
from agent.config.resources import pattern
from agent.dataclass import dataclass
from agent.errors import AgentError, LockHeld, NoteGone
from agent.events.runs import Speaker
from agent.loop.outcome import Ended, RunOutcome
from agent.loop.records import RunRequest
from agent.loop.session import load_session
from agent.markdown.blocks import parse_body
from agent.markdown.tasks import TaskDates, find_tasks, without_created
from agent.memory import daily
from agent.runs.crash_recovery import is_own
from agent.runs.decisions import approvals
from agent.runs.run_io import RunIO
from agent.runs.service import RunService
from agent.schedule.aims import load_aims
from agent.schedule.history import Outcome
from agent.schedule.job import DAILY_CHANNEL, NO_CHANNEL, Job
from agent.schedule.task_notes import load_tasks
from agent.texts import text
from agent.times.named_days import names_day, written_day
from agent.vault.find import notes_with_line
from agent.vault.store import Vault
from agent.vault.task_lines import open_tasks, own_notes, own_words
from agent.workspace.workspace import Workspace

_NOTES, _LONGEST = 200, 200
"""The most notes that are read, and the most characters of a line."""
_MOST = {"due": 30, "day": 12, "waits": 12}
"""The most lines of each kind; how many are left out is said."""


@dataclass(frozen=True, slots=True)
class _DueLine:
    """A task as a line, and the day on which it was to be seen; `is_deadline`: it is due on that day."""

    day: date
    is_deadline: bool
    line: str


def asks_for_agenda(task: str) -> bool:
    """True for a task about the person's day: a briefing, what is due, appointments."""
    return pattern("agenda").search(task) is not None


def agenda_of(workspace: Workspace, today: date) -> str:
    """The agenda as lists with links; empty if there is nothing."""
    vault, language = workspace.vault, workspace.settings.vault.language
    waiting = (f"[[{each.path.removesuffix('.md')}]]" for each in approvals(workspace).pending())
    due = list(dict.fromkeys(each.line for each in _due(vault, today)))
    named = (each for each in _of_day(vault, today) if each not in due)
    shown: list[str] = []
    for key, lines in (("due", due), ("day", named), ("waits", waiting)):
        rows = list(dict.fromkeys(lines))
        if rows:
            shown += [text(f"agenda.{key}", language, day=today), *(f"- {row}" for row in rows[: _MOST[key]])]
            left = len(rows) - _MOST[key]
            shown += [*([f"- {text('agenda.more', language, count=left)}"] if left > 0 else []), ""]
    return "\n".join(shown).strip()


def aims_of(workspace: Workspace) -> str:
    """What the person works towards, for whoever words a day; empty if nothing of it is to be spoken of."""
    aims, language = load_aims(workspace.vault), workspace.settings.vault.language
    if not aims.may_be_spoken_of:
        return ""
    given = (("focus", aims.focus), ("drives", aims.drives), ("sources", aims.sources))
    rows = (f"- {text(f'agenda.{key}', language)}: {'; '.join(words)}" for key, words in given if words)
    return "\n".join((text("agenda.aims", language), *map(daily.inert, rows)))


def _due(vault: Vault, today: date) -> list[_DueLine]:
    """The open tasks whose day has come: what is overdue first, the nearest first; where there are too many, the
    nearest are there."""
    found = [*_due_boxes(vault, today), *_due_tasks(vault, today)]
    nearest = sorted(found, key=lambda each: (today - each.day, not each.is_deadline))
    kept, rest = nearest[: _MOST["due"]], nearest[_MOST["due"] :]
    return [*sorted(kept, key=lambda each: each.day == today), *rest]


def _due_boxes(vault: Vault, today: date) -> Iterator[_DueLine]:
    """The boxes whose day has come; where too many notes have some, those of the notes with the nearest day."""

    def is_due(_: str, dates: TaskDates) -> bool:
        return dates.has_come(today)

    for box in open_tasks(vault, is_due, lambda dates: (today - min(dates.day or today, today)).days):
        day = min(box.day, today)
        yield _DueLine(day, box.dates.due == day, _line(vault, box.path, box.text))


def _due_tasks(vault: Vault, today: date) -> Iterator[_DueLine]:
    for task in load_tasks(vault, done=False).waiting:
        if task.due is not None and task.due.date() <= today:
            yield _DueLine(task.due.date(), True, _line(vault, task.path, task.title))


def _of_day(vault: Vault, today: date) -> Iterator[str]:
    """The lines that name the day, and what the person wrote in its note; no box that is ticked."""
    named = written_day(today)
    path = vault.home.day_note(today)
    own = [path] if vault.read(path) is not None else []
    for each in dict.fromkeys([*own, *own_notes(vault, notes_with_line(vault, named))[:_NOTES]]):
        note = own_words(vault, each)
        body = parse_body(note.body, note.body_line)
        boxes = {box.line: box for box in find_tasks(body)}
        for at, (line, kind) in enumerate(zip(body.lines, body.kinds, strict=True), body.first):
            box, plain = boxes.get(at), line.strip()
            if each == path and plain.startswith("## "):
                break
            is_said = plain and not plain.startswith(("#", ">", "%%")) and kind not in {"code", "fence", "comment"}
            words = without_created(line) if box else line
            if is_said and (box is None or box.is_open) and (each == path or names_day(words, today)):
                yield _line(vault, each, box.text if box else plain.removeprefix("- "))


def _line(vault: Vault, path: str, words: str) -> str:
    day = vault.home.day_of(path)
    link = daily.link_to(day, vault.home) if day else f"[[{path.removesuffix('.md')}]]"
    return f"{daily.inert(daily.cut(' '.join(words.split()), _LONGEST))} ({link})"


_OWN_CHANNEL = "cli"
"""The channel whose session a job of the mode `main` goes on with: the person's own at the terminal."""
_NAMED = 20
"""The most notes that a run is told of."""
_OUTCOMES: dict[RunOutcome, Outcome] = {
    RunOutcome.FINISHED: "done",
    RunOutcome.NEEDS_APPROVAL: "waits",
    RunOutcome.QUESTION_ASKED: "waits",
    RunOutcome.INTERRUPTED: "interrupted",
}


@dataclass(frozen=True, slots=True)
class JobResult:
    """What one run of a job came to.

    `text` is the answer, `reason` why there is none. `waits_for` is the note in which the person decides, `strangers`
    the sources of text that the run has read and that is not the person's, `commits` those of the run itself.
    `stands_in` is the note that has the answer already, empty if it is to be written somewhere. `notice` is the id of
    the notice that brings the answer (empty: that of the run).
    """

    outcome: Outcome
    text: str = ""
    reason: str = ""
    run: str = ""
    session: str = ""
    commits: tuple[str, ...] = ()
    money: float = 0.0
    waits_for: str = ""
    strangers: tuple[str, ...] = ()
    stands_in: str = ""
    notice: str = ""


def run_job(runs: RunService, job: Job, line: RunIO, paths: Sequence[str] = ()) -> JobResult:
    """Run a job's text; `paths` are the notes whose changes start it. The record of the run is held for
    the commit that the caller makes.

    Raises what `RunService.ask` does.
    """
    runs.capturing.hold = True
    links = [f"- [[{path.removesuffix('.md')}]]" for path in paths[:_NAMED]]
    links += [f"- … ({len(paths) - _NAMED})"] if len(paths) > _NAMED else []
    task = "\n".join((job.text, "", *links)) if links else job.text
    if not job.user_id and asks_for_agenda(job.text):
        agenda = agenda_of(runs.workspace, runs.workspace.clock.now().astimezone(job.zone).date())
        if not runs.account.models.main.model.present:
            return _plain_agenda(runs.workspace, agenda)
        task = "\n\n".join(filter(None, (task, agenda, aims_of(runs.workspace))))
    request = RunRequest(task, Speaker(OF_JOBS, job.user_id), job=job.id, spend=job.spend, place=_place(job))
    try:
        ended = runs.ask(request, _session(runs, job), line)
    except LockHeld:
        if job.mode == "isolated":
            raise
        ended = runs.ask(request, "", line)  # its person is talking in that session now
    return result_of(runs.workspace, ended, runs.account.spent(ended.run).money)


def result_of(workspace: Workspace, ended: Ended, money: float) -> JobResult:
    """What a run of a job came to, that has cost so much."""
    vault = workspace.vault
    outcome = _OUTCOMES.get(ended.outcome, "failed")
    reason = ". ".join(filter(None, (vault.masked(ended.reason), vault.masked(ended.hint))))
    try:
        strangers = tuple(load_session(vault, ended.session).untrusted)
    except (NoteGone, AgentError):
        strangers = ()
    found = JobResult(outcome, vault.masked(ended.answer.strip()), "", ended.run, ended.session, ended.commits)
    return replace(
        found,
        reason="" if outcome == "done" else reason,
        money=money,
        waits_for=ended.waits_for,
        strangers=strangers,
    )


def _plain_agenda(workspace: Workspace, agenda: str) -> JobResult:
    """The agenda as the answer: without a model, passages that have words of the job's text in common with it would be
    the day's own note, in which they then stand twice."""
    if not agenda:
        return JobResult("nothing")
    return JobResult(
        "done", workspace.vault.masked(f"{agenda}\n\n{text('agenda.plain', workspace.settings.vault.language)}")
    )


def _place(job: Job) -> str:
    """Where the answer of a job goes, as its model is told."""
    if job.channel == NO_CHANNEL:
        return "the note of this conversation, which the person may never open"
    return "the person's note of the day" if job.channel == DAILY_CHANNEL else f"the person, through {job.channel}"


def _session(runs: RunService, job: Job) -> str:
    """The session that a job goes on with; empty for one of its own."""
    if job.mode == "isolated":
        return ""
    found = runs.last_session(Speaker(_OWN_CHANNEL))
    if found is None or found.open_run is not None or not is_own(runs.workspace, found) or runs.is_stale(found):
        return ""
    return found.path
