"""Builds what one vault's daemon does by itself: the table of its parts, the first to hear an event first.

Opens the channels through which the person writes back, and opens them anew when their settings have changed.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import timedelta
from functools import cache, partial

from agent.app.agent import opened_runs
from agent.app.channels import open_channels, open_inbounds
from agent.app.experiments import propose_variants
from agent.app.jobs import procedures_of, why_no_model
from agent.app.lessons import lesson_work, settle_trials
from agent.app.notices import open_outbox, take_in
from agent.background.alerts import Alerts
from agent.background.attachments import attachments_routine
from agent.background.calendars import calendar_routine
from agent.background.curiosity import curiosity_routine
from agent.background.decision_notices import waiting_notices
from agent.background.human_edits import HumanEdits
from agent.background.inbox.inbox import Inbox
from agent.background.incoming.messages import IncomingMessages, TwoWayChannel
from agent.background.index_sync import IndexSync
from agent.background.insights import Insights
from agent.background.jobs.jobs import Jobs
from agent.background.leftovers import Leftovers
from agent.background.lessons import lesson_routine, variant_routine
from agent.background.machine_contact import MachineContact
from agent.background.maintenance import evening_routine, maintenance_routines
from agent.background.model_key import ModelKey
from agent.background.notices import Notices
from agent.background.part import Hears, Part, PartTable, part_of
from agent.background.pool import Pool
from agent.background.presence import Presence
from agent.background.reflections import Reflections
from agent.background.remote_sync import RemoteSync, deletion_notice
from agent.background.resume import Resume
from agent.background.routine import Routine, RoutineRunner
from agent.background.session_watch import SessionWatch
from agent.background.state_file import JsonStateFile, RecentWarnings
from agent.background.tasks import Tasks
from agent.background.turns import TurnsToGiveBack
from agent.config.channel_settings import ChannelSettings
from agent.context.budget import estimate
from agent.dataclass import dataclass
from agent.events.bus import Bus
from agent.events.notices import NoticeRaised
from agent.events.runs import TaskCompleted
from agent.events.types import DaemonStarted, EditsStopped, FilesChanged, Tick, TurnEnded
from agent.growth.beliefs.learn import lines_learned
from agent.growth.lessons.lesson_work import LessonWork
from agent.growth.patterns.likeness import vectors_of
from agent.metrics.collect import Collector
from agent.runs.accounts import Accounts, open_accounts
from agent.runs.conversations import Conversations, conversations_of
from agent.runs.evening import Evening
from agent.runs.recall_source import recall_source
from agent.runs.skill_learning import skill_learning
from agent.runs.skill_set import skill_set
from agent.runs.upkeep_jobs import Upkeeper, UpkeepJobs
from agent.runs.workflow_traces import SessionTraces
from agent.schedule.shelf import GOAL_TYPE
from agent.workspace.machine import open_claims
from agent.workspace.search_index import SearchIndex
from agent.workspace.vault_watcher import watch_pace
from agent.workspace.workspace import Workspace, reload_settings


def changed_channels(workspace: Workspace) -> Callable[[], Mapping[str, TwoWayChannel] | None]:
    """A function that opens them when their settings have changed, and at its first call; else it returns None.

    It raises what `reload_settings` does.
    """
    last: ChannelSettings | None = None

    def look() -> Mapping[str, TwoWayChannel] | None:
        nonlocal last
        fresh = reload_settings(workspace)
        if fresh.settings.channels == last:
            return None
        last = fresh.settings.channels
        channels = open_channels(fresh)
        return {name: TwoWayChannel(inbound, channels[name]) for name, inbound in open_inbounds(fresh).items()}

    return look


Bytes = Callable[[str, str], bytes | None]
"""A note's bytes by path and content hash if they are in memory; None for most."""


@dataclass(frozen=True, slots=True)
class DaemonParts:
    """All parts of one vault's daemon, and by name those that are asked for more than to hear events."""

    table: PartTable
    index: IndexSync
    inbox: Inbox
    jobs: Jobs
    tasks: Tasks
    remotes: RemoteSync
    messages: IncomingMessages
    metrics: Collector
    state: JsonStateFile

    def close(self) -> None:
        """Finish once the pool has ended."""
        self.remotes.goodbye()
        self.messages.close()
        self.inbox.close()
        self.jobs.close()
        self.state.close()


def build_daemon(
    workspace: Workspace,
    index: SearchIndex,
    bus: Bus,
    pool: Pool,
    held: Bytes,
    cut_short: Callable[[], AbstractContextManager[None]],
    leftovers: Leftovers,
) -> DaemonParts:
    """The parts of a daemon; work that may end at any point runs inside `cut_short`."""
    settings, vault, clock, publish = workspace.settings, workspace.vault, workspace.clock, bus.publish_async
    pace, unasked = watch_pace(workspace), workspace.unasked
    open_runs, open_box = partial(opened_runs, workspace), partial(open_outbox, unasked, publish)

    def accounts() -> Accounts:
        return open_accounts(reload_settings(workspace), estimate)  # they may name a model by now

    def lessons_now() -> LessonWork:
        return lesson_work(reload_settings(unasked), lambda: vectors_of(index.chosen.embedder), publish)

    edits = HumanEdits(vault, clock, settings.git.quiet_seconds, pace.scan, bus.publish, still_seconds=pace.still)
    sync = IndexSync(index, clock, pace.scan, publish, cut_short, edits.listed, still_seconds=pace.still)
    since = clock.now().replace(microsecond=0) - timedelta(seconds=1)  # a session's times are whole seconds
    sessions = SessionWatch(vault, since, bus.publish)
    key, presence = ModelKey(workspace), Presence(unasked, pool, publish)
    turns = TurnsToGiveBack(pool, open_claims(workspace), lambda: inbox.turns_going_on() | tasks.turns_going_on())
    inbox = Inbox(workspace, pool, open_runs, turns, held, key.look, presence.wake)
    procedures, notify, why = procedures_of(workspace), take_in(workspace), partial(why_no_model, key)
    goals = partial(sync.may_have_type, GOAL_TYPE)
    jobs = Jobs(workspace, pool, open_runs, turns, procedures, presence, notify, why, goals)
    tasks = Tasks(workspace, pool, open_runs, turns, presence, partial(opened_runs, unasked))
    remotes = RemoteSync(workspace, lambda: edits.settled, publish)
    messages = IncomingMessages(
        workspace,
        pool,
        open_runs,
        changed_channels(workspace),
        lambda delivery_id: open_box().text_of(delivery_id),
        publish,
    )
    undecided = lambda known: waiting_notices(workspace, known | messages.asked)  # noqa: E731
    notices = Notices(workspace, pool, open_box, undecided)
    vectors = cache(lambda: vectors_of(index.chosen.embedder))
    metrics = Collector(workspace.metrics, vault.clock, bus.counts)
    bus.observer = metrics.handled

    def deleted(event: EditsStopped) -> None:
        publish(deletion_notice(event, settings.vault.language))

    table = PartTable(pool)
    state = JsonStateFile(workspace.daemon_state, pool, table.problems, vault.masked, RecentWarnings(clock))

    frequent = (Tick, TurnEnded, FilesChanged)
    any_event: Hears[object] = Hears(object, jobs.heard, but=frequent)
    first: tuple[Part | Routine, ...] = (
        key.routine(),
        part_of("index", sync, Hears(TurnEnded, sync.turn_ended), start=sync.start, files=sync.changed),
        attachments_routine(workspace, index, publish),
        part_of("human edits", edits, files=edits.changed),
        Part("sessions", (Hears(FilesChanged, sessions.changed),)),
        *Resume(workspace, pool, open_runs, publish).routines(),
        part_of("state", presence, start=presence.start),
        part_of("inbox", inbox, start=inbox.start, files=inbox.changed, ended=inbox.take_in),
        part_of("jobs", jobs, any_event, start=jobs.start, files=jobs.changed, ended=jobs.take_in),
        *maintenance_routines(_upkeep_jobs(workspace, index, accounts, bus), pool),
        part_of("tasks", tasks, files=tasks.changed),
        Part("turns", (Hears(DaemonStarted, turns.start),), turns.turn),
        remotes.routine(),
        part_of("notices", notices, Hears(NoticeRaised, notices.raised), start=notices.start, files=notices.changed),
        Part("deletions", (Hears(EditsStopped, deleted),)),
        Alerts(workspace, metrics, open_box, goals).routine(),
        MachineContact(workspace).routine(),
        calendar_routine(workspace, publish),
        part_of("messages", messages, start=messages.start, ended=messages.take_in),
        Insights(unasked, publish, vectors).routine(),
        evening_routine(Evening(unasked, accounts, publish)),
        lesson_routine(unasked, lessons_now),
        curiosity_routine(workspace, turns, publish),
        Reflections(unasked, turns, accounts, publish).routine(),
        variant_routine(partial(propose_variants, unasked)),
    )
    table.last = (
        Part("status", (Hears(TurnEnded, state.turn_ended),)),
        Part("metrics", (Hears(object, metrics.hear, but=(TaskCompleted, *frequent)),)),  # each run counts its own end
        Part("leftovers", (Hears(FilesChanged, leftovers.changed),), leftovers.turn),  # the index reads what was kept
    )
    table.first = [
        each if isinstance(each, Part) else RoutineRunner(each, pool, clock, lambda: edits.settled).part()
        for each in first
    ]
    return DaemonParts(table, sync, inbox, jobs, tasks, remotes, messages, metrics, state)


def _upkeep_jobs(workspace: Workspace, index: SearchIndex, accounts: Callable[[], Accounts], bus: Bus) -> UpkeepJobs:
    """The upkeep of the notes; what it needs is opened for each of its jobs, with the settings of that moment."""
    skills, unasked = skill_set(workspace, lambda: None, estimate), workspace.unasked
    traces = SessionTraces(workspace.vault)

    def conversations() -> Conversations:
        fresh, models = reload_settings(unasked), accounts()
        return conversations_of(fresh, recall_source(fresh, index).near, models, bus.publish_async)

    return UpkeepJobs(
        workspace,
        skills,
        lambda: skill_learning(skills, accounts(), bus.publish_async, traces),
        lambda: Upkeeper(unasked, partial(lines_learned, unasked)),
        conversations,
        bus.publish_async,
        settle_trials,
    )
