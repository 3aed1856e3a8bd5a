"""`vault-agent jobs tasks`: lists, plans, cancels and does the agent's own tasks; `daemon wake | sleep`: the daemon's
agent begins them now, or sleeps until something is due.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import click

from agent.background.presence_files import give_order
from agent.deeds.tasks import cancel_task, list_tasks, task_history, task_view
from agent.errors import Retryable, UserError
from agent.interfaces.cli.declare import group, in_vault, words_argument
from agent.interfaces.cli.foreground import stopped_by_ctrl_c
from agent.interfaces.cli.language import listed, row, spoken, tr
from agent.interfaces.cli.output import CheckFailed, Output, exit_codes, fields, progress
from agent.interfaces.cli.printing import as_lines, columns, padded
from agent.interfaces.cli.time_format import format_ago, format_time
from agent.lazy import later
from agent.runs.planned_tasks import find_task, marked_tasks, plain_task, plan_in_vault
from agent.schedule.procedures import TASK_NAMES, TASK_TYPES, TYPES, target_name, task_type_of
from agent.schedule.task import HIGHEST, LOWEST, TURN, USUAL, Task, TaskProblem, moment
from agent.schedule.task_notes import NewTask, TaskShelf, load_task, load_tasks, needs
from agent.schedule.triggers import SHORTEST, BadTrigger, parse_duration
from agent.times.reading import remarks
from agent.workspace.catch_up import catch_up
from agent.workspace.machine import open_claims
from agent.workspace.workspace import Workspace, is_watched

if TYPE_CHECKING:
    from agent.app.agent import opened_runs
    from agent.deeds.tasks import TaskView
    from agent.growth.task_work import TaskEnded, TaskWork
    from agent.runs.crash_recovery import close_cut_off
    from agent.schedule.trigger_lines import one_moment
    from agent.vault.sync.turns import take_turn
    from agent.workspace.search_index import open_index
else:
    TaskWork = later("agent.growth.task_work", "TaskWork")
    close_cut_off = later("agent.runs.crash_recovery", "close_cut_off")
    one_moment = later("agent.schedule.trigger_lines", "one_moment")
    open_index = later("agent.workspace.search_index", "open_index")
    opened_runs = later("agent.app.agent", "opened_runs")
    take_turn = later("agent.vault.sync.turns", "take_turn")


def task_document(task: "TaskView") -> dict[str, object]:
    """A task for `--json`, which has names of its own for two of its fields."""
    found = task.document()
    return {"task_type": found.pop("type"), "due": found.pop("scheduled_time"), **found}


def ended_document(ended: "TaskEnded") -> dict[str, object]:
    """What became of a task, for `--json`."""
    result = ended.result
    optional = {"waits_for": result.waits_for or None, "session": result.session or None}
    found = fields(result, "did_something commits", with_model=not result.is_plain, money=round(result.money, 6))
    return fields(ended, "status text", id=ended.task.id) | found | optional


def format_list(shelf: TaskShelf, now: datetime) -> list[str]:
    """The tasks that wait, the next one first, and the notes that are no right task."""
    width = max((columns(each.kind) for each in shelf.waiting), default=0)
    lines = [
        f"{each.priority:>2}  {padded(each.kind, width)}  {each.title}  [{each.id}]{_waiting_for(each, shelf, now)}"
        for each in shelf.waiting
    ]
    for problem in shelf.problems:
        lines.append(tr("{path} is not done: {problem}", path=problem.path, problem=tr(problem.message)))
        lines += [tr("  hint: {hint}", hint=tr(problem.hint))] if problem.hint else []
    return lines or [tr("no task waits")]


def format_history(done: Sequence[Task], now: datetime) -> list[str]:
    """The tasks that are over, the last one first."""
    lines = [
        f"{format_time(each.completed_at, now) if each.completed_at else '?'}  {tr(each.status)}  {each.kind}  "
        f"{each.title}  [{each.id}]"
        for each in done
    ]
    return lines or [tr("no task was done yet")]


def format_task(task: Task, shelf: TaskShelf, now: datetime) -> Iterator[str]:
    """One task in full."""
    yield f"{task.title}  [{task.id}]"
    yield row("type", task.kind)
    yield row("status", tr(task.status) + _waiting_for(task, shelf, now))
    yield row("priority", str(task.priority))
    if task.target_file:
        yield row("note", task.target_file)
    if task.completed_at:
        yield row("over", f"{format_time(task.completed_at, now)} ({format_ago(task.completed_at, now)})")
    for label, text in (("about", task.description), ("context", task.context)):
        if text:
            yield row(label, " ".join(text.split()))
    if task.result or task.error:
        yield row("result" if task.result else "error", task.result or task.error)
    yield row("in", task.path)


def format_types() -> list[str]:
    """The kinds of tasks, each with what it does."""
    width = max(map(len, TASK_TYPES))
    return [f"{kind:<{width}}  {tr(TYPES[kind])}" for kind in TASK_TYPES]


def _waiting_for(task: Task, shelf: TaskShelf, now: datetime) -> str:
    """Why a task is not begun now; empty if it may be, or is over."""
    if not task.is_waiting:
        return ""
    if task.status == "in_progress":
        return tr(", in progress: {what}", what=task.result) if task.result else tr(", in progress")
    if missing := needs(task, shelf.done):
        return tr(", needs {tasks}", tasks=listed(missing))
    return tr(", from {time} on", time=format_time(task.due, now)) if task.due and task.due > now else ""


@group("list")
def command() -> None:
    """Tasks are notes in tasks/, which move to tasks/done/ with what came of them. A daemon does them, the most urgent
    first.

    NAME is a task's id, its note, its title, or a part of one of them.
    """


@command.command("list", short_help="List the tasks that wait, the next one first.")
@in_vault
def list_(output: Output, workspace: Workspace) -> None:
    """List the tasks that wait, the next one first, and the notes in tasks/ with a wrong field."""

    def document() -> Mapping[str, object]:
        found = list_tasks(workspace)
        return {"tasks": [task_document(each) for each in found.tasks], "problems": found.problems}

    output.emit(document, lambda: as_lines(format_list(marked_tasks(workspace), workspace.clock.now())))


@command.command()
@click.argument("name", metavar="NAME")
@in_vault
def show(output: Output, workspace: Workspace, name: str) -> None:
    """Show one task, whether it waits or is over."""
    shelf, now = marked_tasks(workspace), workspace.clock.now()
    task = find_task(shelf.all, shelf, name)
    output.emit(
        lambda: {"task": task_document(task_view(task, shelf))}, lambda: as_lines(format_task(task, shelf, now))
    )


@command.command(short_help="Plan a task.")
@click.argument("kind", metavar="TYPE")
@click.argument("title")
@click.option("--about", "description", default="", metavar="TEXT", help="What to do, in more words.")
@click.option(
    "--target", default="", metavar="NOTE", help="For explore_topic: the research note to work on, such as tea.md."
)
@click.option(
    "--priority", type=click.IntRange(LOWEST, HIGHEST), default=USUAL, show_default=True, help="10 is done first."
)
@click.option("--due", default="", metavar="TIME", help="Not before: 2h, tomorrow, 2026-12-24 09:00, Friday at 5pm.")
@click.option("--every", default="", metavar="TIME", help="Again and again, as a job: 1d, 12h, 30m.")
@in_vault
def add(
    output: Output,
    workspace: Workspace,
    kind: str,
    title: str,
    description: str,
    target: str,
    priority: int,
    due: str,
    every: str,
) -> None:
    """Plan a task of this TYPE (vault-agent jobs tasks types lists them). The same one is planned once a day."""
    now, sort = workspace.clock.now(), task_type_of(kind)
    at, remarks_of_time = _due(due, now) if due else (None, ())
    new = NewTask(
        sort,
        " ".join(title.split()),
        description.strip(),
        priority,
        at,
        target_name(sort, target, workspace.vault.home),
        recurrence_interval=_interval(every) if every else 0,
    )
    planned = plan_in_vault(workspace, new, again=False)
    task = planned.task
    words = "planned in {path}" if planned.request else "this is planned or was done today already: {path}"
    taken = list(remarks_of_time) if planned.request else []
    shelf = load_tasks(workspace.vault)
    output.emit(
        {"task": task_document(task_view(task, shelf)), "new": planned.request is not None, "remarks": taken},
        as_lines([tr(words, path=task.path), *taken]),
    )


@command.command()
@click.argument("name", metavar="NAME")
@click.option("--reason", default="", metavar="TEXT", help="Why; it is kept in the note.")
@in_vault
def cancel(output: Output, workspace: Workspace, name: str, reason: str) -> None:
    """Take a task out of the queue; its note moves to tasks/done/."""
    done = cancel_task(workspace, name, reason)
    output.emit(done, tr("cancelled: {title}", title=done.title))


@command.command(epilog=exit_codes("the task failed"), short_help="Do a task now.")
@click.argument("name", metavar="NAME")
@in_vault
def run(output: Output, workspace: Workspace, name: str) -> None:
    """Do a task now, in front of you. NAME may also be a type: then a task of that type is planned and done, also if
    one was done today."""
    shelf = load_tasks(workspace.vault)
    if name in TASK_NAMES and not any(each.is_named(name) for each in shelf.waiting):
        task = plan_in_vault(workspace, plain_task(workspace, task_type_of(name)), again=True).task
    else:
        task = find_task(shelf.waiting, shelf, name)
    progress("doing the task")
    ended = _do(workspace, task)
    output.emit(ended_document(ended), lambda: as_lines(_report(ended)))
    if ended.status == "failed":
        raise CheckFailed


@command.command(short_help="List the tasks that are over.")
@click.option("-n", "most", type=click.IntRange(1, 500), default=20, show_default=True, help="How many at most.")
@in_vault
def history(output: Output, workspace: Workspace, most: int) -> None:
    """List the tasks that are over, the last one first."""
    output.emit(
        lambda: {"tasks": [task_document(each) for each in task_history(workspace).tasks[:most]]},
        lambda: as_lines(format_history(marked_tasks(workspace).done[:most], workspace.clock.now())),
    )


@command.command()
@click.pass_obj
def types(output: Output) -> None:
    """List the types of tasks and what each does. Without a model each has a plain form, which only quotes and
    counts."""
    output.emit({"types": list(TASK_TYPES)}, lambda: as_lines(format_types()))


def _do(workspace: Workspace, task: Task) -> "TaskEnded":
    """Do a task as the daemon does, once it is this machine's turn."""
    close_cut_off(workspace)
    index = open_index(workspace)
    try:
        catch_up(workspace, index)
    finally:
        index.close()
    turn = take_turn(open_claims(workspace), TURN + task.id)
    try:
        fresh = load_task(workspace.vault, task.path)
        if isinstance(fresh, TaskProblem | None):
            raise UserError("{path} does not wait any more", hint="vault-agent jobs tasks history", path=task.path)
        with stopped_by_ctrl_c() as cancelled:
            return TaskWork(workspace, partial(opened_runs, workspace)).do(fresh, cancelled)
    finally:
        with suppress(Retryable):  # the daemon tries again
            turn.hand_over()


def _due(words: str, now: datetime) -> tuple[datetime, tuple[str, ...]]:
    """The moment from which a task is due: after a duration, tomorrow at this time, or a moment, also in words; and
    what a person is told of words, such as the hour that was taken because they named none."""
    if words.strip().casefold() == "tomorrow":
        return now + timedelta(days=1), ()
    with suppress(BadTrigger):
        return now + timedelta(seconds=parse_duration(words)), ()
    with suppress(UserError):
        return moment(words), ()
    at, found = one_moment(words, now.astimezone())
    return moment(at), tuple(remarks(found, spoken()))


def _interval(words: str) -> int:
    seconds = parse_duration(words)
    if seconds < SHORTEST:
        raise UserError("every {value} is too often or too seldom", hint="from 1m to 366d", value=words)
    return seconds


def _report(ended: "TaskEnded") -> list[str]:
    lines = [tr("{status}: {title}", status=tr(ended.status), title=ended.task.title)]
    lines += ended.text.splitlines()
    if ended.result.waits_for:
        lines.append(tr("it goes on once you have decided in {path}", path=ended.result.waits_for))
    return [*lines, *(tr("commit {commit}", commit=each[:12]) for each in ended.result.commits)]


@click.command()
@words_argument("reason", required=False)
@in_vault
def wake(output: Output, workspace: Workspace, reason: str | None) -> None:
    """Wake the agent of this vault's daemon; REASON is shown by `vault-agent status`.

    Awake, it does the tasks that wait, and sleeps again after a few minutes without work.
    """
    _check_daemon(workspace)
    words = reason or tr("you woke it")
    give_order(workspace.vault, "wake", words)
    output.emit({"order": "wake", "reason": words}, tr("the daemon wakes up within two seconds"))


@click.command()
@in_vault
def sleep(output: Output, workspace: Workspace) -> None:
    """Let the agent of this vault's daemon sleep, after the work that goes on. The next due job wakes it."""
    _check_daemon(workspace)
    give_order(workspace.vault, "sleep", tr("you sent it to sleep"))
    output.emit({"order": "sleep"}, tr("the daemon sleeps once its work has ended"))


def _check_daemon(workspace: Workspace) -> None:
    """Raise `UserError` if no daemon runs that could obey."""
    if not is_watched(workspace):
        raise UserError("no daemon runs here", hint="vault-agent daemon starts one")
