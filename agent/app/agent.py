"""Builds the agent of one vault: its models, tools, memory and skills, and the bus that ties them together in a run."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from agent.app.subscriptions import RunParts, subscribe_run
from agent.context.source import Source
from agent.context.system import system_part
from agent.context.tokens import counter
from agent.events.bus import Bus
from agent.events.runs import SessionEnded, TaskCompleted
from agent.loop.agent import Agent
from agent.memory.capture.flush import flush_subscriber
from agent.memory.capture.writer import CaptureWorker
from agent.memory.recall.refresh import refresh_subscriber
from agent.metrics.collect import Collector
from agent.runs.accounts import account
from agent.runs.active_skills import Following
from agent.runs.capture import end_of_session, keep, keeper_of, recent, save_flushed, trace, ways_with_models
from agent.runs.decisions import approvals
from agent.runs.diary import Diary
from agent.runs.extractive_provider import Quoting
from agent.runs.recall_source import recall
from agent.runs.service import Runs
from agent.runs.skill_learning import learning
from agent.runs.skill_set import skills
from agent.runs.toolbox import relevance, toolbox
from agent.runs.upkeep_jobs import UpkeepJobs
from agent.tools.builtin.toolbox import Delegate
from agent.workspace.daemon_lock import is_watched
from agent.workspace.search_index import Library, library
from agent.workspace.workspace import App, reread


def build_runs(app: App, index: Library) -> Runs:
    """The agent over one index; raises `ConfigError` for settings or a policy that cannot be understood."""
    settings, vault, clock, language = app.settings, app.vault, app.clock, app.settings.vault.language
    bus = Bus(clock)
    embedder = index.chosen.embedder
    count = counter(embedder)
    searches, asks = recall(app, index, bus.publish), approvals(app)
    accounts = account(app, count, Quoting(searches, language))
    keeper = keeper_of(app, searches)
    followed = Following(skills(app, lambda: embedder, count), bus.publish)
    jobs = UpkeepJobs(app, followed.skills, lambda: learning(followed.skills, accounts, bus.publish), bus.publish)
    diary = Diary(app)

    def after(event: TaskCompleted) -> None:
        if not is_watched(app):  # else it is the daemon's maintenance
            jobs.after_run(event)

    capturing = CaptureWorker(
        keeper,
        ways_with_models(app, accounts),
        lambda path, run: trace(vault, path, run),
        bus.publish_async,
        also=(diary.additions, followed.additions),
        after=(followed.over, after),
    )

    def sum_up(event: SessionEnded) -> None:
        capturing.then(lambda: diary.summarise(clock.now().date()))  # once the last run is in the log

    metrics = Collector(app.metrics, clock, bus.counts)
    flush = flush_subscriber(lambda entries: save_flushed(vault, entries), lambda: recent(vault), clock, bus.publish)
    refresh = refresh_subscriber(
        searches.recaller,
        searches.ledger,
        settings.memory,
        lambda path: end_of_session(vault, path),
        count,
        bus.publish,
    )
    seconds = settings.memory.refresh_seconds
    subscribe_run(bus, RunParts(flush, refresh, seconds, followed, capturing, sum_up, metrics))

    def make_agent(delegate: Delegate) -> Agent:
        sources: tuple[Source, ...] = ()
        return Agent(
            vault,
            clock,
            bus,
            accounts.of_run,
            toolbox(app, searches, followed, asks, delegate, keeper),
            lambda: system_part(vault.own_version, clock.now().date(), language),
            sources,
            relevance(embedder) if embedder else None,
            lambda facts, context: keep(app, facts, context),
            count,
            settings.run,
            settings.context,
            language,
            followed.endnote,
        )

    return Runs(app, make_agent, accounts, searches, followed, asks, capturing, metrics)


@contextmanager
def opened_runs(app: App) -> Iterator[Runs]:
    """The agent with the settings as they are now, and an index of its own; closed at the end of the block.

    Raises `ConfigError` for settings or a policy that cannot be understood.
    """
    fresh = reread(app)
    with closing(library(fresh)) as index, closing(build_runs(fresh, index)) as runs:
        yield runs


@contextmanager
def counting(app: App) -> Iterator[Callable[[object], object]]:
    """A function that publishes what a person does outside of a run, so that it is counted."""
    with closing(Bus(app.clock)) as bus:
        metrics = Collector(app.metrics, app.clock, bus.counts)
        bus.subscribe(metrics.hear, object, name="metrics", timeout=None)
        yield bus.publish
    metrics.save()
