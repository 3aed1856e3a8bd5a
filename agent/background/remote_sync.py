"""Keeps the vault in step with its remotes: at the start, when it lies still and there is something to send, now and
then, and at the end.

After a failure it waits longer with each one, up to a quarter of an hour. What passes by itself, such as being offline,
is no news for a day.

The notices about what its person has to see to, and may never look for at a terminal.
"""

import logging
from collections.abc import Callable
from dataclasses import field
from random import random

from agent.background.failures import failure_text
from agent.background.part import PACE, Hears
from agent.background.pool import Priority
from agent.background.routine import LookEvery, Routine
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.events.notices import NoticeRaised
from agent.events.types import EditsStopped, FilesChanged, Origin, RemoteSynced
from agent.markdown.changes import NoteChange
from agent.memory import daily
from agent.runs.sync_rounds import rounds_with_questions
from agent.texts import Language, Sentence, text, translated
from agent.vault.folders import QUESTIONS
from agent.vault.store import Vault
from agent.vault.sync.distance import is_quiet
from agent.vault.sync.permission import RemotePermission
from agent.vault.sync.round import RoundEnd, RoundReport
from agent.vault.sync.rounds import chosen, rounds
from agent.vault.sync.state import SyncedRemote, SyncState, sync_state
from agent.workspace.workspace import Workspace

_NAMED = 3


def deletion_notice(event: EditsStopped, language: Language) -> NoticeRaised:
    """A deletion of many notes waits for a yes: what was stopped, and how to say yes. Nothing that the person writes is
    recorded until then."""
    more = " …" if len(event.paths) > _NAMED else ""
    names = text("answers.comma", language).join(event.paths[:_NAMED]) + more
    lines = text("notices.deletion_why", language, names=daily.inert(names)), text("notices.deletion_yes", language)
    title = text("notices.deletion", language, count=len(event.paths))
    return NoticeRaised("deletion", 0.9, title, lines, subject="edits")


def sync_notice(remote: SyncedRemote, language: Language) -> NoticeRaised:
    """A remote has been out of step for a day: what is wrong, and how to see more. It can wait, and has already."""
    since = f"{remote.since:%Y-%m-%d %H:%M:%S}" if remote.since is not None else ""
    title = text("notices.sync", language, name=daily.inert(remote.name))
    lines = daily.inert(translated(remote.trouble, language)), text("notices.sync_more", language)
    return NoticeRaised("sync_trouble", 0.7, title, lines, subject=f"{remote.name} {since}")


FIRST, LONGEST = 30.0, 900.0
"""Seconds of the pause after the first failure, doubled with each, and at most."""
GOODBYE = 3.0
"""Seconds for one transfer when the daemon ends; a round has three at most."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class RemoteSync:
    """The remotes of one vault. `settled` says that all edits by people are committed; `tell` publishes each round that
    moved something."""

    workspace: Workspace
    settled: Callable[[], bool]
    tell: Callable[[object], object]
    trouble: str = ""
    _noticed: set[str] = field(default_factory=set, init=False)
    _head: str = field(default="", init=False)
    _still_from: float = field(default=0.0, init=False)
    _next_at: float = field(default=0.0, init=False)
    _blocked_until: float = field(default=0.0, init=False)
    _failures: int = field(default=0, init=False)
    _has_remotes: bool = field(default=False, init=False)
    _running: bool = field(default=False, init=False)

    @property
    def _vault(self) -> Vault:
        return self.workspace.vault

    def changed(self, event: FilesChanged[NoteChange]) -> None:
        """Files have changed: what is to be sent waits until they lie still; an answer to a question does not."""
        self._still_from = event.now
        home = self._vault.home
        if any(home.holds(each.path, QUESTIONS) and each.origin is not Origin.OWN for each in event.events):
            self._next_at = self._blocked_until = 0.0

    def routine(self) -> Routine:
        """A round whenever one is due; to see whether, costs reading one small file and HEAD."""
        return Routine(
            "remotes",
            self._round,
            hears=(Hears(FilesChanged, self.changed),),
            looks=(
                LookEvery(PACE, lambda: not self._has_remotes and self._is_due()),
                LookEvery(1.0, lambda: self._has_remotes and self._is_due()),
            ),
            needs_settled=False,
            key="sync",
            priority=Priority.NETWORK,
            trouble=lambda: self.trouble,
        )

    def _is_due(self) -> bool:
        """True if a round is due; takes in what is wrong with the remotes."""
        state, now = sync_state(self._vault), self.workspace.clock.monotonic()
        self.trouble, self._has_remotes = self._news(state), bool(state.remotes)
        is_off = not self._has_remotes or state.is_paused or now < self._blocked_until
        return not is_off and (now >= self._next_at or self._has_news_to_send(state, now))

    def goodbye(self) -> None:
        """Send what is left when the daemon ends, if the remotes were well; takes some seconds at most."""
        try:
            state = sync_state(self._vault)
            if state.is_paused or self._running or not state.remotes:
                return
            well = [each for each in chosen(self._vault) if not each.trouble and each.wait is None]
            left = [each for each in well if self._vault.head != each.agreed or not self.settled()]
            for report in rounds(self._vault, left, RemotePermission(), seconds=GOODBYE):
                logger.info("sync with %s at the end: %s", report.remote, report.end)
        except (AgentError, OSError) as error:
            logger.info("sync at the end: %s", failure_text(error))

    def _has_news_to_send(self, state: SyncState, now: float) -> bool:
        """True if a remote lacks a commit, and nothing has changed here for a while."""
        head = self._vault.head or ""
        if head != self._head:
            self._head, self._still_from = head, max(self._still_from, now) if self._head else self._still_from
        lacks = any(each.agreed != head and each.wait is None for each in state.remotes.values())
        return lacks and now >= self._still_from + self.workspace.settings.sync.quiet_seconds and self.settled()

    def _round(self, *_: object) -> None:
        """One round with each remote, in the pool; then plan the next one."""
        self._running, is_well = True, False
        try:
            reports = rounds_with_questions(self.workspace, chosen(self._vault), is_patient=True)
            is_well = all([self._is_well(report) for report in reports])
        finally:
            self._plan(is_well=is_well)
            self._running = False

    def _is_well(self, report: RoundReport) -> bool:
        """Tell what was moved; returns False if the next round has to wait longer."""
        received, sent = len(report.received), len(report.sent)
        if received or sent:
            logger.info("sync with %s: %d files received, %d sent", report.remote, received, sent)
            self.tell(RemoteSynced(report.remote, report.received, report.sent))
        return report.end is RoundEnd.SYNCED or report.wait is not None

    def _plan(self, *, is_well: bool) -> None:
        """Plan the next round."""
        now = self.workspace.clock.monotonic()
        self._next_at = now + self.workspace.settings.sync.interval_seconds
        if is_well:
            self._failures, self._blocked_until = 0, 0.0
        else:
            pause = min(FIRST * 2**self._failures, LONGEST)
            self._failures += 1
            self._blocked_until = now + pause * (0.75 + random() / 2)
            self._next_at = min(self._next_at, self._blocked_until)

    def _news(self, state: SyncState) -> str:
        """The problems of the remotes, in one line, and a notice for each; nothing about what may
        pass by itself."""
        now = self.workspace.clock.now()
        wrong = [each for each in state.remotes.values() if not is_quiet(each, now)]
        for each in wrong:
            if each.wait is None and not state.is_paused:  # what waits is asked about in a note of its own
                notice = sync_notice(each, self.workspace.settings.vault.language)
                if notice.subject not in self._noticed:  # once for each trouble of a remote
                    self.tell(notice)
                self._noticed.add(notice.subject)
        lines = [Sentence("sync with {name}: {trouble}", name=each.name, trouble=each.trouble) for each in wrong]
        return "; ".join(lines)
