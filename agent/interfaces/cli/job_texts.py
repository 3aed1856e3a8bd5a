"""Jobs as `vault-agent jobs` prints them."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from shlex import quote
from typing import TYPE_CHECKING

from agent.interfaces.cli.language import listed, spoken, tr
from agent.interfaces.cli.printing import beside, columns, padded
from agent.interfaces.cli.time_format import format_time
from agent.schedule.history import JobRecord
from agent.schedule.job import Job, JobProblem
from agent.schedule.occurrences import machine_zone
from agent.schedule.shelf import Shelf
from agent.schedule.trigger_words import job_words
from agent.schedule.triggers import At, Cron, RecurrenceRule

if TYPE_CHECKING:
    from agent.runs.job_upkeep import OwedJob


_SETTINGS = (
    "id on task remind status timezone active_days channel priority mode catch_up retry cooldown_seconds "
    "max_concurrency timeout spend approval_required run_on user_id target_file source"
)
"""The settings of a job, in the order in which they are shown."""


def format_list(shelf: Shelf, now: datetime) -> str:
    """A line for each job, then what is wrong and what waits."""
    width = max((columns(job.name) for job in shelf.jobs), default=0)
    lines = []
    for job in shelf.jobs:
        words = filter(None, (_state(job), format_when(job), _next(job, now), _title(job)))
        lines += beside(f"{padded(job.name, width)}  ", "  ".join(words).rstrip())
    lines += [problem_line(each) for each in shelf.problems]
    lines += warning_lines(shelf.jobs)
    lines += [
        tr("{path} has text that arrived and does not count yet: vault-agent needs", path=each)
        for each in shelf.waiting
    ]
    return "\n".join(lines) or tr("there are no jobs; vault-agent jobs add TEXT makes one")


def problem_line(problem: JobProblem) -> str:
    """The problem of a job's note, and what to do."""
    where = f"{problem.path} ({problem.key})" if problem.key else problem.path
    return tr("{where} cannot run: {problem}; {fix}", where=where, problem=problem.message, fix=problem.hint)


def owed_line(owed: "OwedJob", now: datetime) -> str:
    """What was to be done once and is not done, why, and how it goes on."""
    sentence = "{id} was due {moment} and is not done: {reason}"
    line = tr(sentence, id=owed.job.name, moment=format_time(owed.planned, now), reason=tr(owed.reason or owed.outcome))
    if owed.again is not None:
        return line + tr("; tried again {moment}", moment=format_time(owed.again, now))
    return line + tr("; vault-agent jobs run {id} runs it now", id=quote(owed.job.name))


def warning_lines(jobs: Iterable[Job]) -> list[str]:
    """What is likely misspelt in the notes of jobs."""
    return [tr("{path}: {problem}", path=job.path, problem=tr(each)) for job in jobs for each in job.warnings]


def format_when(job: Job) -> str:
    """What starts a job, in words; with its zone where that is not this machine's."""
    words = listed(job_words(job, spoken()))
    is_here = job.zone.key == machine_zone().key or not any(
        isinstance(each, At | Cron | RecurrenceRule) for each in job.triggers
    )
    return words if is_here else tr("{when} ({zone})", when=words, zone=job.zone.key)


def format_job(job: Job, now: datetime, record: JobRecord) -> list[str]:
    """Everything about one job but its runs before the last one."""
    times = job.coming(now, 3) if job.status == "active" else ()
    rows = [
        (tr("note"), job.path),
        (tr("when"), format_when(job)),
        (tr("zone"), job.zone.key),
        (tr("status"), tr(job.status) + _paused_hint(job)),
        (
            tr("does"),
            job.task or (tr("only wakes the agent") if job.only_wakes else job.text.partition("\n")[0]),
        ),
        (tr("answers"), job.channel),
        (tr("next"), listed(format_time(each.at, now) for each in times) or "-"),
    ]
    if record.last_run_at is not None and record.last_run_status is not None:
        rows.append((tr("last"), f"{format_time(record.last_run_at, now)}  {tr(record.last_run_status)}"))
    if record.is_stopped:
        rows.append(
            (
                tr("status"),
                tr("{id} is stopped by its failures: vault-agent jobs resume {id}", id=quote(job.name)),
            )
        )
    rows += [(tr("warning"), tr(each)) for each in job.warnings]
    width = max(columns(label) for label, _ in rows)
    return [job.title, *(f"  {padded(label, width)}  {words}" for label, words in rows)]


def format_settings(job: Job, written: Collection[str]) -> list[str]:
    """Each setting of a job with the value that holds; `written` are the keys of its header."""
    values = {
        "on": format_when(job),
        "timezone": job.zone.key,
        "retry": {"max": job.retry.most, "backoff_seconds": job.retry.backoff_seconds},
        "timeout": None if job.timeout is None else f"{job.timeout}s",
    }
    return setting_lines(
        {each: values[each] if each in values else getattr(job, each) for each in _SETTINGS.split()}, written
    )


def setting_lines(values: Mapping[str, object], written: Collection[str]) -> list[str]:
    """A line for each setting, those that its header has marked; `-` stands for none, where the program's settings
    decide."""
    width = max(map(len, values))
    return [
        tr("settings (* stands in the header):"),
        *(f"  {'*' if key in written else ' '} {key:<{width}}  {_setting(value)}" for key, value in values.items()),
    ]


def _setting(value: object) -> str:
    if value in (None, "", (), [], {}):
        return "-"
    match value:
        case bool():
            return "true" if value else "false"
        case list() | tuple():
            return f"[{', '.join(map(_setting, value))}]"
        case Mapping():
            return f"{{{', '.join(f'{key}: {_setting(each)}' for key, each in value.items())}}}"
        case float():
            return f"{value:g}"
    return str(value)


def _paused_hint(job: Job) -> str:
    return tr("; vault-agent jobs resume {id}", id=quote(job.name)) if job.status == "paused" else ""


def _title(job: Job) -> str:
    """The title, where the name does not say the same."""
    return "" if "-".join(job.title.casefold().split()) == job.name.casefold() else f"“{job.title}”"


def _state(job: Job) -> str:
    return padded(tr(job.status), 6)


def _next(job: Job, now: datetime) -> str:
    found = job.coming(now, 1) if job.status == "active" else ()
    return tr("next {moment}", moment=format_time(found[0].at, now)) if found else ""
