"""The subscribers that every run has, one path for all channels: refresh, skills that its tools bring, the flush before
a compaction, what is written down when it is over, and the counts. What a task is given when it begins is `recalling`'s
and `following`'s."""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from agent.app.alone import is_watched
from agent.app.build import App
from agent.app.following import Following
from agent.app.learning import learning
from agent.app.memories import Diary, Upkeeper
from agent.app.models import Account
from agent.app.opinions import gather
from agent.app.recalling import Recall, nobody
from agent.context.budget import Count
from agent.context.prompt import LANGUAGES, fill
from agent.errors import AgentError, NoteGone, SecretFound
from agent.events.bus import Bus
from agent.events.runs import ContextCompact, IterationStarted, SessionEnded, SkillRated, Speaker, TaskCompleted
from agent.llm.messages import Assistant, Request, ToolResult, User
from agent.loop.records import Began, Spoken
from agent.loop.session import Session, load
from agent.memory.capture import Ways
from agent.memory.dedupe import Thresholds
from agent.memory.entry import Entry, EntryType, read_entry
from agent.memory.flush import RECENT, flush_subscriber
from agent.memory.keeping import After, Capturing, Keeper
from agent.memory.refresh import refresh_subscriber
from agent.memory.tombstones import tombstones
from agent.memory.workflow import ToolUse, Trace
from agent.metrics.collect import Collector
from agent.tools.tool import RunContext
from agent.vault.folders import ENTRIES
from agent.vault.store import Vault
from agent.vault.write.change import Stamp

_LAST = -100
_LOOKED_AT = 100
_SUMMARY_TOKENS = 256
_TAIL = 8_000
_ABOUT = ("path", "query", "url", "task", "text", "question", "argv")
"""The arguments that say what a call is about, the most telling first."""
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Hooks:
    """The bus of a vault's runs, with what works behind it."""

    bus: Bus
    keeper: Keeper
    capturing: Capturing

    def close(self) -> None:
        """Finish what is still to be remembered, then have everything counted."""
        self.capturing.close()
        self.bus.close()


def keeper_of(app: App, searches: Recall) -> Keeper:
    """What tells new entries of a vault from known ones, by its settings."""
    settings = app.settings.memory
    return Keeper(app.vault, searches.near, Thresholds(settings.dedupe, settings.chat_merge))


def hooks(app: App, searches: Recall, following: Following, keeper: Keeper, models: Account, count: Count) -> Hooks:
    """A bus that keeps memories from being lost, brings them back, has skills followed, and counts what happens."""
    bus, vault, settings = app.bus(), app.vault, app.settings.memory

    def save(entries: Sequence[Entry]) -> None:
        first = entries[0]
        stamp = Stamp("agent", run=first.slots.get("run", ""), tool="flush", session=first.session_id)
        save_entries(vault, entries, stamp)

    bus.subscribe(
        flush_subscriber(save, lambda: recent(vault), app.clock, bus.publish),
        ContextCompact,
        name="flush",
        priority=100,
    )
    refresh = refresh_subscriber(searches.recaller, searches.ledger, settings, lambda path: _end_of(vault, path), count,
                                 bus.publish)  # fmt: skip
    bus.subscribe(refresh, IterationStarted, name="refresh", priority=50, timeout=settings.refresh_seconds)
    bus.subscribe(following.refreshed, IterationStarted, name="skills", priority=60)
    diary = Diary(app)
    capturing = Capturing(
        keeper,
        _ways_with(app, models),
        lambda path, run: trace(vault, path, run),
        bus.publish_async,
        also=(diary.additions, following.additions),
        after=_after(app, following, models, bus),
    )
    bus.subscribe(capturing.hear, TaskCompleted, name="capture")

    def sum_up(event: SessionEnded) -> None:
        capturing.then(lambda: diary.summarise(app.clock.now().date()))  # once the last run is in the log

    bus.subscribe(sum_up, SessionEnded, name="daily_summary", priority=-10)
    counts = Collector(app.metrics, app.clock, bus.counts)
    bus.subscribe(counts.hear, object, name="metrics", priority=_LAST)
    searches.tell = following.tell = bus.publish
    return Hooks(bus, keeper, capturing)


def _after(app: App, following: Following, models: Account, bus: Bus) -> tuple[After, ...]:
    """What is done behind a run when everything about it is written down."""
    learner = learning(following.skills, models, bus.publish_async)
    upkeeper = Upkeeper(app)

    def listen(event: TaskCompleted) -> None:
        for use in gather(app, following.skills.library.shelf().named):
            bus.publish_async(SkillRated(use.name, use.run, use.feedback))

    def tend(event: TaskCompleted) -> None:
        if not is_watched(app):  # a daemon does it when there is nothing else to do
            upkeeper.run_when_due()

    return following.over, listen, learner.after, tend


def keep_words(app: App, session: Session, run: str) -> None:
    """Keep what a person said to a run that was cut off: it may never be taken up again. Does not raise."""
    began = next((each for each in session.of_run(run) if isinstance(each, Began)), None)
    if began is None or not app.settings.memory.capture_messages:
        return
    vault = app.vault
    keeper = Keeper(vault, lambda entry: ())
    capturing = Capturing(keeper, _ways(app), lambda path, run: trace(vault, path, run), nobody)
    speaker = Speaker(began.channel, began.sender, began.group)
    try:
        capturing.capture(TaskCompleted(run, session.path, began.task, speaker, "interrupted", "", (), 0.0, 0))
    except (AgentError, OSError) as error:
        logger.warning("%s: what was said in it is not remembered: %s", session.path, error)


def trace(vault: Vault, path: str, run: str) -> Trace:
    """What a session's note says of a run: its calls in their order, and whose text was before the model."""
    try:
        session = load(vault, path)
    except NoteGone:
        return Trace(is_whole=False)
    said = [event.message for event in session.of_run(run) if isinstance(event, Spoken)]
    failed = {each.call for each in said if isinstance(each, ToolResult) and each.failed}
    calls = [call for each in said if isinstance(each, Assistant) for call in each.calls]
    steps = tuple(ToolUse(call.name, _about(call.arguments), call.id in failed) for call in calls)
    return Trace(steps, session.untrusted)


def save_entries(vault: Vault, entries: Sequence[Entry], stamp: Stamp) -> None:
    """Memories as notes, in one commit."""
    if not entries:
        return
    with vault.transaction(f"memory(flush): keep {len(entries)} of a conversation", stamp) as transaction:
        for entry in entries:
            transaction.create(entry.path, entry.note())


def recent(vault: Vault, most: int = RECENT) -> Sequence[Entry]:
    """The memories saved last, the newest first; those of the newest days are looked at."""
    paths = sorted((path for path in vault.note_paths() if path.startswith(ENTRIES)), reverse=True)
    found = [read_entry(vault.read(path) or b"") for path in paths[:_LOOKED_AT]]
    return sorted((entry for entry in found if entry is not None), key=lambda entry: entry.created, reverse=True)[:most]


def keep(app: App, facts: Sequence[str], context: RunContext) -> None:
    """Save what a model wants to remember of a conversation, for the person who speaks in it and nobody else; what
    cannot be saved (a secret) costs no other.

    Nothing is saved once the run has read untrusted text: who knows whose wish it is.
    """
    if context.taint:
        return
    left = tombstones(app.vault)
    for fact in facts:
        if left.is_forgotten(fact):
            continue
        entry = Entry(
            app.clock.new_id(),
            app.clock.now(),
            fact,
            type=EntryType.AUTO_FLUSH,
            channel=context.channel,
            source="context_compact",
            session_id=context.session,
            sender_id=context.sender,
        )
        with suppress(SecretFound):
            save_entries(app.vault, [entry], Stamp("agent", run=context.run, tool="flush", session=context.session))


def _ways(app: App) -> Ways:
    """How captures are made without a model."""
    vault, settings = app.vault, app.settings
    return Ways(
        settings.memory,
        app.clock,
        vault.masked,
        lambda: tombstones(vault).without_forgotten,
        language=settings.vault.language,
    )


def _ways_with(app: App, models: Account) -> Ways:
    """The same with the models that there are."""
    summarise = _summarise(app, models) if models.models.fast.model.present else None
    return replace(_ways(app), summarise=summarise, thinks=models.models.main.model.present)


def _summarise(app: App, models: Account) -> Callable[[str], str]:
    """A long turn to what is worth keeping, by the fast model; on an account of its own."""

    def summarise(text: str) -> str:
        language = LANGUAGES[app.settings.vault.language]
        prompt = fill("turn", app.vault.own_version, language=language, turn=text)
        model = models.of_run(f"capture-{app.clock.new_id()}", "").fast
        return model.chat(Request((User(prompt),), max_output=_SUMMARY_TOKENS)).message.text

    return summarise


def _about(arguments: object) -> str:
    given = arguments if isinstance(arguments, dict) else {}
    return next((str(given[key]) for key in _ABOUT if given.get(key)), "")


def _end_of(vault: Vault, path: str) -> str:
    return (vault.read(path) or b"")[-_TAIL:].decode("utf-8", "ignore")
