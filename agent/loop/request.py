"""What a run is asked to do, by whom, and within which limits; the record of its begin in the session has all of it."""

import re

from agent.context.prompt import Audience, audience_of
from agent.dataclass import dataclass
from agent.errors import UserError
from agent.events.runs import Speaker
from agent.loop.records import Began
from agent.tools.tool import RunContext

_JOB = re.compile(r"[\w.@/-]{1,100}")
"""A job's id as a commit's trailer can have it (`Vault-Actor: job:ID`)."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A task, its speaker, and the job it belongs to; `role` is `owner` or `guest`.

    What follows holds for its sub-runs too, and when it is resumed. `purpose` gives the run the tools that exist only
    for it (`Tool.only_for`). `writes` are the beginnings of the paths in the vault that its tools may change, such as
    `research/` or `tasks/garden.md`; None: wherever the policy and the rules of the folders allow. `spend` is what all
    runs of its job together may cost on one day, in US dollars; None: no limit of its own. `place` says in words where
    the answer of a job goes; it is not recorded, since the model is told once.

    Raises `UserError` for a guest without a name, since the guest's words would be stored as the owner's, and for a
    job's id that a commit cannot name.
    """

    task: str
    speaker: Speaker
    role: str = "owner"
    job: str = ""
    purpose: str = ""
    writes: tuple[str, ...] | None = None
    spend: float | None = None
    place: str = "the note of this conversation"

    def __post_init__(self) -> None:
        if self.role != "owner" and not self.speaker.sender:
            raise UserError(
                "somebody asks through {channel} who is not you and has no name",
                hint="have the channel say who sends each message",
                channel=self.speaker.channel,
            )
        if self.job and not _JOB.fullmatch(self.job):
            raise UserError(
                "{job!r} is no id of a job", hint="letters, digits and . _ - @ / are, at most 100", job=self.job
            )

    @property
    def audience(self) -> Audience:
        """The audience of the run, which says what its model is given."""
        return audience_of(self.role, group=self.speaker.group)

    @classmethod
    def of(cls, began: Began) -> "RunRequest":
        """The request with which a run began."""
        speaker = Speaker(began.channel, began.sender, began.group)
        return cls(began.task, speaker, began.role, began.job, began.purpose, began.writes, began.spend)

    @classmethod
    def delegated(cls, task: str, by: RunContext) -> "RunRequest":
        """The request with which the run of this context gives a part of its task to a sub-run."""
        return cls(task, Speaker(by.channel, by.sender), by.role, by.job, by.purpose, by.writes, by.spend)

    def began(self, run: str) -> Began:
        """The record of the begin of a run with this request."""
        channel, sender, group = self.speaker.channel, self.speaker.sender, self.speaker.group
        given = (self.role, self.job, self.purpose, self.writes, self.spend)
        return Began(run, self.task, channel, sender, group, *given)

    def context(self, run: str, session: str) -> RunContext:
        """The context of a run with this request, in the session at this path."""
        return RunContext(
            run,
            session,
            channel=self.speaker.channel,
            role=self.role,
            sender=self.speaker.sender,
            job=self.job,
            purpose=self.purpose,
            writes=self.writes,
            spend=self.spend,
        )
