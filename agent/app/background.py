"""Builds the parts of one vault's daemon: the clients of its pool, and the parts that follow file changes."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from functools import cache, partial

from agent.app.agent import opened_runs
from agent.app.experiments import propose_variants
from agent.app.incoming import changed_channels
from agent.app.jobs import procedures_of, why_no_model
from agent.app.measured_rules import measured_rule_work
from agent.app.notices import open_outbox, take_in
from agent.app.replays import draft_measure
from agent.app.settle_trials import settle_trials
from agent.app.subscriptions import DaemonParts
from agent.app.suggestions import dismissed_suggestions
from agent.background.alerts import Alerts
from agent.background.curiosity import Curiosity
from agent.background.decision_notices import waiting_notices
from agent.background.deletion_notice import DeletionNotice
from agent.background.experiments import Experiments
from agent.background.human_edits import HumanEdits
from agent.background.inbox.inbox import Inbox
from agent.background.incoming.messages import IncomingMessages
from agent.background.index_sync import IndexSync
from agent.background.insights import Insights
from agent.background.jobs.jobs import Jobs
from agent.background.machine_contact import MachineContact
from agent.background.maintenance import Maintenance
from agent.background.model_key import ModelKey
from agent.background.notices import Notices
from agent.background.pool import Pool
from agent.background.presence import Presence
from agent.background.recent_warnings import RecentWarnings
from agent.background.reflections import Reflections
from agent.background.remote_sync import RemoteSync
from agent.background.resume import Resume
from agent.background.rules import RuleUpkeep
from agent.background.session_watch import SessionWatch
from agent.background.state_file import JsonStateFile
from agent.background.tasks import Tasks
from agent.context.tokens import estimate
from agent.events.bus import Bus
from agent.growth.beliefs.learn import lines_learned
from agent.growth.gate.scratch import drop_left_over
from agent.growth.patterns.likeness import vectors_of
from agent.metrics.collect import Collector
from agent.runs.accounts import Accounts, open_accounts
from agent.runs.capture import entry_writer
from agent.runs.conversations import Conversations
from agent.runs.memory_upkeep import open_upkeeper
from agent.runs.recall_source import recall_source
from agent.runs.skill_learning import skill_learning
from agent.runs.skill_set import skill_set
from agent.runs.upkeep_jobs import UpkeepJobs
from agent.schedule.goals import GOAL_TYPE
from agent.workspace.machine import open_claims
from agent.workspace.search_index import SearchIndex
from agent.workspace.vault_watcher import watch_pace
from agent.workspace.workspace import Workspace, reload_settings

Bytes = Callable[[str, str], bytes | None]
"""A note's bytes by path and content hash if they are in memory; None for most."""


def build_daemon(
    workspace: Workspace,
    index: SearchIndex,
    bus: Bus,
    pool: Pool,
    held: Bytes,
    cut_short: Callable[[], AbstractContextManager[None]],
) -> DaemonParts:
    """The parts of a daemon; work that may end at any point runs inside `cut_short`."""
    settings, vault, clock = workspace.settings, workspace.vault, workspace.clock
    pace = watch_pace(workspace)
    open_runs = partial(opened_runs, workspace)
    edits = HumanEdits(vault, clock, settings.git.quiet_seconds, pace.scan, bus.publish, still_seconds=pace.still)
    sync = IndexSync(index, clock, pace.scan, bus.publish_async, cut_short, edits.listed, still_seconds=pace.still)
    since = clock.now().replace(microsecond=0) - timedelta(seconds=1)  # a session's times are whole seconds
    sessions = SessionWatch(vault, since, bus.publish)
    resume = Resume(workspace, pool, open_runs, bus.publish_async)
    key = ModelKey(workspace)
    inbox = Inbox(workspace, pool, open_runs, open_claims(workspace), held, key.look)
    why, presence = partial(why_no_model, key), Presence(workspace, pool, bus.publish_async)
    procedures, notify = procedures_of(workspace), take_in(workspace)
    claims, goals = open_claims(workspace), partial(sync.may_have_type, GOAL_TYPE)
    jobs = Jobs(workspace, pool, open_runs, claims, procedures, presence, notify, why, goals)

    def accounts() -> Accounts:
        return open_accounts(reload_settings(workspace), estimate)  # they may name a model by now

    maintenance = Maintenance(_upkeep_jobs(workspace, index, accounts, bus), pool, clock, lambda: edits.settled)
    tasks = Tasks(workspace, pool, open_runs, open_claims(workspace), presence)
    insights = Insights(
        workspace,
        pool,
        lambda: edits.settled,
        bus.publish_async,
        cache(lambda: vectors_of(index.chosen.embedder)),
        partial(dismissed_suggestions, workspace),
    )
    reflections = Reflections(
        workspace, pool, open_claims(workspace), lambda: edits.settled, accounts, bus.publish_async
    )
    rules = RuleUpkeep(
        workspace, pool, lambda: edits.settled, partial(measured_rule_work, workspace, index, bus.publish_async)
    )
    curiosity = Curiosity(workspace, pool, open_claims(workspace), lambda: edits.settled, bus.publish_async)
    experiments = Experiments(
        pool, clock, lambda: edits.settled, partial(propose_variants, workspace), partial(drop_left_over, workspace)
    )
    remotes = RemoteSync(workspace, pool, lambda: edits.settled, bus.publish_async)
    open_box = partial(open_outbox, workspace, bus.publish_async)

    messages = IncomingMessages(
        workspace,
        pool,
        open_runs,
        changed_channels(workspace),
        lambda code, opinion: open_box().note_opinion(code, opinion),
        lambda shown: open_box().text_of(shown),
    )
    unasked = lambda known: waiting_notices(workspace, known | messages.asked)  # noqa: E731
    notices = Notices(workspace, pool, open_box, unasked)

    metrics = Collector(workspace.metrics, vault.clock, bus.counts)
    bus.observer = metrics.handled
    alerts = Alerts(workspace, pool, metrics, open_box, goals)

    warnings = RecentWarnings(clock)
    state = JsonStateFile(
        workspace.daemon_state, pool, lambda: sync.problem, lambda: parts.problems, vault.masked, warnings
    )
    parts = DaemonParts(
        index=sync,
        edits=edits,
        sessions=sessions,
        resume=resume,
        inbox=inbox,
        presence=presence,
        jobs=jobs,
        maintenance=maintenance,
        tasks=tasks,
        metrics=metrics,
        state=state,
        key=key,
        deletions=DeletionNotice(workspace, bus.publish_async),
        remotes=remotes,
        contact=MachineContact(workspace, pool, lambda: edits.settled),
        notices=notices,
        insights=insights,
        reflections=reflections,
        curiosity=curiosity,
        messages=messages,
        alerts=alerts,
        rules=rules,
        experiments=experiments,
    )
    return parts


def _upkeep_jobs(workspace: Workspace, index: SearchIndex, accounts: Callable[[], Accounts], bus: Bus) -> UpkeepJobs:
    """The upkeep of the notes; what it needs is opened for each of its jobs, with the settings of that moment."""
    skills = skill_set(workspace, lambda: None, estimate)

    def conversations() -> Conversations:
        fresh, models = reload_settings(workspace), accounts()
        return Conversations(fresh, entry_writer(fresh, recall_source(fresh, index), models), models, bus.publish_async)

    return UpkeepJobs(
        workspace,
        skills,
        lambda: skill_learning(skills, accounts(), bus.publish_async, draft_measure(workspace, lambda: index.chosen)),
        lambda: open_upkeeper(workspace, accounts(), partial(lines_learned, workspace)),
        conversations,
        bus.publish_async,
        settle_trials,
    )
