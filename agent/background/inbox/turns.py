"""Which of several machines answers a note: one works on it at a time, after it has taken in what the others have.

The turn is for the note, not for one request in it: two requests of one note are answered in its one session, one after
the other.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from agent.background.inbox.queue import PendingRequest
from agent.background.pool import Pool, Priority
from agent.clock import Clock
from agent.errors import AgentError, Retryable
from agent.markdown.note import Note
from agent.texts import Sentence
from agent.vault.store import Vault
from agent.vault.sync.claims import Claims, RemoteUnreachable
from agent.vault.sync.turns import AnotherMachineHasIt, Turn, held_turns, take_turn

AGAIN_AT_MOST = 120.0
"""Seconds, at most, until a machine looks again whether it may answer a note."""
_AGAIN = 10.0
"""Seconds until an answer that could not be sent is tried again."""
_NOTE = "note "

logger = logging.getLogger(__name__)


def turn_name(vault: Vault, path: str) -> str:
    """What is claimed for a note: the same on all machines, by its id or by its path."""
    return _NOTE + (Note.parse(vault.read(path) or b"").id or path)


def begin_turn(claims: Claims, vault: Vault, path: str) -> Turn:
    """The turn for the requests of a note; raises `NotOurTurn`."""
    return take_turn(claims, turn_name(vault, path))


def held_turn(claims: Claims, vault: Vault, path: str) -> Turn | None:
    """The turn that this machine had for a note before a restart; None if it had none that others know of."""
    name = turn_name(vault, path)
    return next((each for each in held_turns(claims) if each.claim.what == name), None)


@dataclass(slots=True)
class TurnByHand:
    """The turn for a note that a person has named at a terminal. They are not kept waiting by a remote that is away:
    `unknown` says then why no other machine could be asked, and there is no `turn`."""

    turn: Turn | None
    unknown: Sentence = Sentence("")
    is_answered: bool = field(default=False, init=False)

    def is_lost(self) -> bool:
        """True if another machine has taken the note over; call it often while the work goes on."""
        return self.turn is not None and self.turn.is_lost()

    def may_answer(self) -> bool:
        """False if another machine answers the note; call it before an answer is written."""
        try:
            self.is_answered = self.turn is None or self.turn.finish()
        except RemoteUnreachable as error:
            logger.info("%s", error.message)
            self.is_answered = True
        return self.is_answered


@contextmanager
def turn_by_hand(claims: Claims, vault: Vault, path: str) -> Iterator[TurnByHand]:
    """The turn for a note that a person has named, given back at the end with the answer that was written.

    Raises `AnotherMachineHasIt`. What cannot be handed over at the end stays claimed until the next daemon does it.
    """
    try:
        found = TurnByHand(begin_turn(claims, vault, path))
    except AnotherMachineHasIt:
        raise
    except Retryable as error:
        found = TurnByHand(None, error.message)
    try:
        yield found
    finally:
        if found.turn is not None:
            try:
                if found.is_answered:
                    found.turn.hand_over()
                elif not found.is_lost():
                    found.turn.give_back()
            except (AgentError, OSError) as error:
                logger.info("%s: not given back yet: %s", path, error)


@dataclass(slots=True)
class TurnsToGiveBack:
    """The turns whose answer is written and not on the remote yet; handed over by work for the pool."""

    clock: Clock
    pool: Pool
    claims: Claims
    _due: dict[str, tuple[Turn, float]] = field(default_factory=dict, init=False)

    def start(self, kept: Sequence[str]) -> None:
        """Take in the turns that the last daemon has left, but for the notes at these paths, whose work goes on."""
        taken = {turn_name(self.claims.vault, path) for path in kept}
        for turn in held_turns(self.claims):
            if turn.claim.what.startswith(_NOTE) and turn.claim.what not in taken:
                self._due[turn.claim.what] = turn, 0.0

    def add(self, entry: PendingRequest) -> None:
        """Hand over the turn of a request that is answered, or that nobody asks any more."""
        turn, entry.turn = entry.turn, None
        if turn is not None and not entry.turn_lost:
            self._due[turn.claim.what] = turn, 0.0

    def tick(self, now: float) -> None:
        """Submit what is due."""
        for what, (turn, due) in list(self._due.items()):
            key = f"turn {what}"
            if now >= due and not self.pool.has(key):
                self._due[what] = turn, now + _AGAIN
                self.pool.submit(partial(self._hand_over, turn), key=key, priority=Priority.NOTE)

    def _hand_over(self, turn: Turn, cancelled: Callable[[], bool]) -> None:
        try:
            is_done = turn.hand_over()
        except (AgentError, OSError) as error:
            logger.info("%s: not given back yet: %s", turn.claim.what, error)
            return
        found = self._due.get(turn.claim.what)
        if is_done and found is not None and found[0] is turn:
            self._due.pop(turn.claim.what, None)
