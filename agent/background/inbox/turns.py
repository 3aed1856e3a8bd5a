"""Which of several machines answers a note: one works on it at a time, after it has taken in what the others have.

The turn is for the note, not for one request in it: two requests of one note are answered in its one session, one after
the other.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field

from agent.dataclass import dataclass
from agent.errors import AgentError, Retryable
from agent.markdown.note import Note
from agent.texts import Sentence
from agent.vault.store import Vault
from agent.vault.sync.claims import Claims, RemoteUnreachable
from agent.vault.sync.turns import AnotherMachineHasIt, Turn, held_turns, take_turn

AGAIN_AT_MOST = 120.0
"""Seconds, at most, until a machine looks again whether it may answer a note."""
NOTE = "note "
"""The beginning of the name of each turn for a note."""

logger = logging.getLogger(__name__)


def turn_name(vault: Vault, path: str) -> str:
    """The name of the claim for a note: the same on all machines, by its id or by its path."""
    return NOTE + (Note.parse(vault.read(path) or b"").id or path)


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
