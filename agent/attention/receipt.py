"""What is known of one notice: what was decided about it and why, each try to send it, its proof, what its person said.

Plain data; `receipts` keeps it on disk.

The code by which a person names a notice.
"""

from datetime import datetime
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.events.notices import REMINDER, Decided, NoticeRaised

_ID = 6
"""The characters of an id's end that are its code."""


def notice_code(id: str) -> str:
    """The end of a notice's id, in small letters."""
    return id[-_ID:].lower()


AttentionRule: TypeAlias = Literal[
    "allowed", "urgent", "duplicate", "threshold", "dismissals", "quiet", "daily", "interval", "digest", "over"
]
"""The rule that decided: `allowed` when none spoke against it, `digest` for the digest itself, `dismissals` when the
priority was too low only because it was halved, `over` when what it tells of is over before it was shown."""
Reaction: TypeAlias = Literal["helpful", "not_helpful", "dismissed"]
"""What its person said about a notice."""


@dataclass(frozen=True, slots=True)
class NoticeDecision:
    """A decision. `until` is when a notice that is held may be sent at the earliest, as far as is known now.

    `figure` and `limit` are what the rule compared: the score and the least one, the notices of the day and the most,
    the minutes since the last one and the least.
    """

    decided: Decided
    rule: AttentionRule
    until: datetime | None = None
    figure: float = 0.0
    limit: float = 0.0


@dataclass(frozen=True, slots=True)
class NoticeReceipt:
    """The state of one notice, by all the steps that were noted.

    `first` is the first decision, `decision` the last one, at the time `decided_at`. `channel` is where it goes,
    `chosen` where it went first. `tries` counts those on `channel`; `has_begun` is true from the begin of a try to its
    end, so that it is true after a kill in between, and then `may_have_arrived` stays true; it is true, too, once a
    service has not said whether it took it. `failed_at`, `delay`
    (seconds) and `problem` are about the last try that failed. `stands_in` is where in the vault a reminder stands
    whose channel has failed. `digest` is the id of the digest that lists it;
    `listed` are the notices of a digest.
    """

    id: str
    at: datetime
    raised: NoticeRaised
    first: NoticeDecision
    decision: NoticeDecision
    decided_at: datetime
    channel: str
    chosen: str
    listed: tuple[str, ...] = ()
    tries: int = 0
    has_begun: bool = False
    may_have_arrived: bool = False
    failed_at: datetime | None = None
    delay: float = 0.0
    problem: str = ""
    proof: str = ""
    delivered_at: datetime | None = None
    digest: str = ""
    stands_in: str = ""
    reaction: Reaction | None = None
    reacted_at: datetime | None = None

    @property
    def is_digest(self) -> bool:
        """True for a digest, which costs nothing of the day's notices, and no interval."""
        return self.decision.rule == "digest"

    @property
    def is_reminder(self) -> bool:
        """True for what its person wanted to hear at a time."""
        return self.raised.type == REMINDER and bool(self.raised.due)

    @property
    def is_undelivered(self) -> bool:
        """True if it is to be sent, and no channel has proved it yet."""
        return self.decision.decided == "sent" and self.delivered_at is None

    @property
    def is_still_to_come(self) -> bool:
        """True if it may be shown yet: it is held, is to be sent, or waits for the digest."""
        return self.decision.decided == "held" or self.waits_for_digest or self.is_undelivered

    @property
    def waits_for_digest(self) -> bool:
        """True if the next digest will list it."""
        return self.decision.decided == "digest" and not self.digest
