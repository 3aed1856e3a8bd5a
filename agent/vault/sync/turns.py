"""Turns: work that one of several machines does, with what the others have done before, and which the others get.

A turn is a claim with a round of sync at both ends: after it is taken, what the remote has is taken in, so that work
which is done already is seen; and it is given back once the remote has the result. In between it is renewed. So two
machines never do the same, however late each hears of the other.
"""

import logging
import threading
from dataclasses import field

from agent.dataclass import dataclass
from agent.errors import Retryable
from agent.git.network import Network
from agent.vault.store import Vault
from agent.vault.sync.claims import Claim, Claims, RemoteUnreachable
from agent.vault.sync.round import RoundEnd, RoundReport, SyncRound
from agent.vault.sync.state import SyncedRemote

LEASE = 600.0
"""Seconds for which a turn is taken, and renewed when half of them are over: so long after a machine has died another
one does its work. Longer than a remote is usually away."""
HELD = 2 * 86_400.0
"""Seconds for which a turn is kept once the work is done, until the remote has the result: a weekend without a
connection. Another machine may do the work again after it."""

_PAUSE = 1.0
"""Seconds until a round is tried again that another process is in."""
_rounds = threading.Lock()

logger = logging.getLogger(__name__)


class NotOurTurn(Retryable):
    """Another machine does the work now, or this one cannot know whether it does."""


class AnotherMachineHasIt(NotOurTurn):
    """Another machine does the work now."""


@dataclass(slots=True)
class Turn:
    """The turn of this machine for one piece of work. All methods but `is_lost` ask the remote, if there is one."""

    claims: Claims
    claim: Claim
    _renew_at: float = field(default=0.0, init=False)
    _is_lost: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._renew_at = self.claims.vault.clock.monotonic() + LEASE / 2

    def is_lost(self) -> bool:
        """True if another machine has taken the turn over. Cheap, but once in a while it asks the remote: call it often
        while the work goes on."""
        now = self.claims.vault.clock.monotonic()
        if not self._is_lost and now >= self._renew_at:
            self._renew_at = now + LEASE / 10  # while the remote cannot be reached
            try:
                self._is_lost = not self._renew(LEASE)
                self._renew_at = now + LEASE / 2
            except RemoteUnreachable as error:
                logger.info("%s: cannot be renewed now: %s", self.claim.what, error.message)
        return self._is_lost

    def finish(self) -> bool:
        """Keep the turn until the result is handed over; call this before the result is written. False if it is lost:
        the result must not be written.

        Raises `RemoteUnreachable` if it is not known.
        """
        if not self._is_lost:
            self._is_lost = not self._renew(HELD)
        return not self._is_lost

    def hand_over(self) -> bool:
        """Send the result to the remote and give the turn back; False if it has to be tried again later."""
        remote = self.claims.remote
        if remote is None:
            return True
        if _round(self.claims.vault, remote).end is not RoundEnd.SYNCED:
            return False
        self.give_back()
        return True

    def give_back(self) -> None:
        """Let another machine have the turn."""
        self.claims.release(self.claim)

    def _renew(self, seconds: float) -> bool:
        renewed = self.claims.renew(self.claim, seconds)
        self.claim = renewed or self.claim
        return renewed is not None


def take_turn(claims: Claims, what: str) -> Turn:
    """The turn for a piece of work, with what the remote has taken in; raises `NotOurTurn`.

    What was done before is found in the vault then: look there before the work begins.
    """
    if claims.lets_others_first():
        raise NotOurTurn("the remote was away: a machine that works without it hands over first what it has done")
    claim = claims.take(what, LEASE)
    if claim is None:
        raise AnotherMachineHasIt("another machine is at it")
    remote = claims.remote
    if remote is not None and claim.oid:
        report = _round(claims.vault, remote)
        if report.end is not RoundEnd.SYNCED:
            claims.release(claim)
            raise NotOurTurn(report.trouble, hint=report.hint)
    return Turn(claims, claim)


def _round(vault: Vault, remote: SyncedRemote) -> RoundReport:
    """A round of sync, after those that other work of this machine is in."""
    with _rounds:
        for last in (False, False, True):
            report = SyncRound(vault, Network(vault.git), remote).run()
            if last or report.end not in {RoundEnd.WAITS, RoundEnd.TAKEN} or report.wait is not None:
                break
            vault.clock.sleep(_PAUSE)
    return report


def held_turns(claims: Claims) -> tuple[Turn, ...]:
    """The turns that this machine has, also before a restart; some may be lost since."""
    return tuple(Turn(claims, claim) for claim in claims.held())
