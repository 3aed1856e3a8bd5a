"""Builds the agent of one vault: its models, tools, memory and skills, and the bus that connects them in a run."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from agent.app.lessons import follow_lessons_after_run, settle_trials
from agent.app.notices import raised_in_runs
from agent.context.budget import Count, counter
from agent.dataclass import dataclass
from agent.events.bus import TIMEOUT, Bus, Injection
from agent.events.notices import NoticeRaised
from agent.events.runs import ContextCompact, IterationStarted, SessionEnded, TaskCompleted, TaskStarted
from agent.growth.lessons.run_lessons import RunLessons
from agent.growth.patterns.likeness import vectors_of
from agent.index.embedder import shipped_embedder
from agent.lazy import later
from agent.loop.agent import Agent, SystemMessages
from agent.memory.capture.writer import CaptureWorker, EntryWriter
from agent.memory.forgetting.forget import ForgettingsOfRuns
from agent.memory.recall.refresh import refresh_subscriber
from agent.metrics.collect import Collector
from agent.runs.accounts import Accounts, open_accounts
from agent.runs.active_skills import ActiveSkills
from agent.runs.conversations import Conversations
from agent.runs.decisions import approvals
from agent.runs.diary import Diary
from agent.runs.extractive_provider import ExtractiveProvider
from agent.runs.own_files import ask_about_own_files
from agent.runs.owner import notes_about_owner
from agent.runs.recall_source import RecallSource, recall_source
from agent.runs.run_course import latest_findings, run_trace
from agent.runs.service import RunService
from agent.runs.skill_set import skill_set
from agent.runs.toolbox import toolbox, undone_work
from agent.runs.upkeep_jobs import UpkeepJobs
from agent.runs.waiting_statements import rule_capture
from agent.runs.workflow_traces import SessionTraces
from agent.tools.builtin.toolbox import Delegate
from agent.vault.waiting import commit_waiting
from agent.workspace.catch_up import catch_up
from agent.workspace.search_index import SearchIndex, open_index
from agent.workspace.workspace import Workspace, is_watched, reload_settings

if TYPE_CHECKING:  # needed after few runs, or once a day, and slow to load
    from agent.growth.beliefs.learn import lines_learned
    from agent.growth.curiosity.before_work import BeforeWork
    from agent.growth.research.research_tools import research_tools
    from agent.runs.skill_learning import skill_learning
    from agent.runs.upkeep_jobs import Upkeeper
else:
    BeforeWork = later("agent.growth.curiosity.before_work", "BeforeWork")
    research_tools = later("agent.growth.research.research_tools", "research_tools")
    lines_learned = later("agent.growth.beliefs.learn", "lines_learned")
    Upkeeper = later("agent.runs.upkeep_jobs", "Upkeeper")
    skill_learning = later("agent.runs.skill_learning", "skill_learning")


@dataclass(frozen=True, slots=True)
class RunParts:
    """The event handlers, and their owners, in the runs of one vault. `refresh` may take `refresh_seconds`, and
    `look_ahead` about `look_ahead_seconds`."""

    flush: Callable[[ContextCompact], None]
    refresh: Callable[[IterationStarted], Sequence[Injection]]
    refresh_seconds: float
    skills: ActiveSkills
    lessons: RunLessons
    capturing: CaptureWorker
    sum_up: Callable[[SessionEnded], object]
    metrics: Collector
    look_ahead: Callable[[TaskStarted], Sequence[Injection]]
    look_ahead_seconds: float
    take_notice: Callable[[NoticeRaised], None]


def subscribe_run(bus: Bus, parts: RunParts) -> None:
    """Subscribe the handlers of runs."""
    row = bus.subscribe

    row(parts.flush, ContextCompact, name="flush", priority=100)
    row(parts.lessons.refreshed, IterationStarted, name="rules", priority=70)
    row(parts.skills.refreshed, IterationStarted, name="skills", priority=60)
    row(parts.refresh, IterationStarted, name="refresh", priority=50, timeout=parts.refresh_seconds)
    row(parts.look_ahead, TaskStarted, name="look-ahead", priority=30, timeout=parts.look_ahead_seconds + TIMEOUT)
    row(parts.capturing.hear, TaskCompleted, name="capture")
    row(parts.take_notice, NoticeRaised, name="notices")
    row(_quiet(parts.sum_up), SessionEnded, name="daily summary", priority=-10)
    row(parts.metrics.hear, object, name="metrics", priority=-100)


def _quiet(work: Callable[[SessionEnded], object]) -> Callable[[SessionEnded], None]:
    """A handler that injects nothing, whatever `work` returns."""

    def handle(event: SessionEnded) -> None:
        work(event)

    return handle


logger = logging.getLogger(__name__)


def build_runs(workspace: Workspace, index: SearchIndex) -> RunService:
    """The run service over one index.

    Raises `ConfigError` for invalid settings or an invalid policy.
    """
    settings, vault, clock = workspace.settings, workspace.vault, workspace.vault.clock
    language = settings.vault.language
    bus = Bus(clock)
    embedder = index.chosen.embedder
    count = counter(shipped_embedder())  # of another model only the words that it knows have tokens
    if index.chosen.notice:
        logger.warning("%s", index.chosen.notice)
    searches, asks = recall_source(workspace, index, bus.publish), approvals(workspace)
    accounts = open_accounts(workspace, count, ExtractiveProvider(searches, language).of_run, bus.publish)
    writer = EntryWriter(workspace.vault, searches.near, language)
    followed = ActiveSkills(skill_set(workspace, lambda: embedder, count), bus.publish)
    run_lessons = RunLessons(
        workspace, count, lambda: vectors_of(embedder), has_model := accounts.models.main.model.present
    )
    traces, unasked = SessionTraces(vault), workspace.unasked
    reader = replace(writer, vault=unasked.vault)  # they know of each other what was written last
    talks = Conversations(unasked, reader, accounts, bus.publish_async, notes_about_owner(vault, count))
    jobs = UpkeepJobs(
        workspace,
        followed.skills,
        lambda: skill_learning(followed.skills, accounts, bus.publish, traces),
        lambda: Upkeeper(unasked, partial(lines_learned, unasked)),
        lambda: talks,
        bus.publish,
        settle_trials,
    )
    diary = Diary(workspace, has_model, bus.publish_async)

    def after(event: TaskCompleted) -> None:
        if not is_watched(workspace):  # otherwise the daemon's maintenance does it
            jobs.after_run(event)

    forgotten = ForgettingsOfRuns(vault, language)
    capturing = CaptureWorker(
        writer,
        replace(rule_capture(workspace), waits=talks.waits),
        lambda path, run: replace(run_trace(vault, path, run), task_type=followed.slots(run).get("task_type", "")),
        bus.publish_async,
        also=(diary.additions, followed.additions, run_lessons.additions),
        after=(
            forgotten.settle,
            followed.over,
            run_lessons.over,
            after,
            partial(follow_lessons_after_run, unasked, bus),
            partial(ask_about_own_files, workspace),
        ),  # fmt: skip
    )

    def close_talks() -> None:
        if not is_watched(workspace):  # else the daemon reads them once they are silent
            capturing.then(talks.keep_ended)
            capturing.then(partial(commit_waiting, vault))

    def sum_up(event: SessionEnded) -> None:
        if not is_watched(workspace):  # else the evening does it
            capturing.then(talks.keep_ended)  # its facts belong to the day
            capturing.then(lambda: diary.summarise(clock.now().date()))  # once the last run is in the log

    def flush(event: ContextCompact) -> None:
        talks.flush(event)
        catch_up(workspace, searches.library)  # the next question in it may be about what was just said

    metrics = Collector(workspace.metrics, clock, bus.counts)
    bus.observer = metrics.handled
    look_ahead, look_ahead_seconds = _look_ahead(workspace, accounts, searches)
    subscribe_run(
        bus,
        RunParts(
            flush=flush,
            refresh=_refresh(workspace, searches, count, bus),
            refresh_seconds=settings.memory.refresh_seconds,
            skills=followed,
            lessons=run_lessons,
            capturing=capturing,
            sum_up=sum_up,
            metrics=metrics,
            look_ahead=look_ahead,
            look_ahead_seconds=look_ahead_seconds,
            take_notice=raised_in_runs(workspace),
        ),
    )

    def make_agent(delegate: Delegate) -> Agent:
        return Agent(
            vault=vault,
            clock=clock,
            bus=bus,
            models=accounts.of_run,
            tools=toolbox(
                workspace,
                searches,
                followed,
                asks,
                delegate,
                writer,
                bus.publish,
                partial(research_tools, workspace, lambda: runs),
                forgotten.add,
            ),
            system=SystemMessages(vault, language),
            sources=(),
            count=count,
            limits=settings.run,
            context=settings.context,
            language=language,
            endnote=lambda run: "\n\n".join(filter(None, (followed.endnote(run), run_lessons.endnote(run)))),
        )

    runs = RunService(
        workspace,
        make_agent,
        account=accounts,
        recall=searches,
        following=followed,
        approvals=asks,
        capturing=capturing,
        metrics=metrics,
        close_conversations=close_talks,
        owner_sources=(run_lessons.source, undone_work),
    )
    return runs


def _refresh(
    workspace: Workspace, searches: RecallSource, count: Count, bus: Bus
) -> Callable[[IterationStarted], Sequence[Injection]]:
    """What recalls anew while a run goes on, by what it has found since."""
    return refresh_subscriber(
        searches.recaller,
        searches.ledger,
        workspace.settings.memory,
        lambda event, most: latest_findings(workspace.vault, event.session, event.run, most),
        count,
        bus.publish,
    )


def _look_ahead(
    workspace: Workspace, accounts: Accounts, searches: RecallSource
) -> tuple[Callable[[TaskStarted], Sequence[Injection]], float]:
    """What looks at what work needs before it begins, and how long that may take; it is loaded where it is wanted."""
    growth = workspace.settings.growth
    if not (growth.enabled and growth.curiosity.unprompted):
        return lambda event: (), 0.0
    made = BeforeWork(workspace, accounts, searches)
    return made.started, made.seconds


@contextmanager
def opened_runs(workspace: Workspace) -> Iterator[RunService]:
    """The run service with the current settings and its own index; closed at the end of the block.

    Raises `ConfigError` for invalid settings or an invalid policy.
    """
    fresh = reload_settings(workspace)
    with closing(open_index(fresh)) as index, closing(build_runs(fresh, index)) as runs:
        yield runs


@contextmanager
def counting(workspace: Workspace) -> Iterator[Callable[[object], object]]:
    """A function that publishes a person's actions outside of runs, so that they are counted."""
    with closing(Bus(workspace.vault.clock)) as bus:
        metrics = Collector(workspace.metrics, workspace.vault.clock, bus.counts)
        bus.subscribe(metrics.hear, object, name="metrics", timeout=None)
        yield bus.publish
    metrics.save()
