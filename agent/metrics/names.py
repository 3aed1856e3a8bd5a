"""The names of events in the metrics, and the buckets in which durations are counted."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import field
from types import MappingProxyType

from agent.dataclass import dataclass

RUNS = "task.completed"
JOBS = "job.completed"
"""The runs that nobody asked for at that moment; they are counted apart."""
RECALLED = "proactive.memory.recalled"
CAPTURED = "proactive.memory.captured"
REFRESHED = "proactive.context.refresh"
SUMMARISED = "memory.daily_summary"
SUGGESTED = "proactive.skill.suggested"
TOOLS_FAILED = "tool.failed"

NAMES: Mapping[str, str] = MappingProxyType(
    {
        "TaskStarted": "task.started",
        "TaskCompleted": RUNS,
        "IterationStarted": "iteration.started",
        "ToolCallStarted": "tool.started",
        "ToolCompleted": "tool.completed",
        "ModelRetry": "model.retry",
        "ToolCallFailed": TOOLS_FAILED,
        "SessionStarted": "session.started",
        "SessionEnded": "session.ended",
        "ContextCompact": "context.compact",
        "MemoryFlushed": "memory.flush",
        "MemoryRecalled": RECALLED,
        "MemoryCaptured": CAPTURED,
        "DaySummarised": SUMMARISED,
        "ContextRefreshed": REFRESHED,
        "ModelThought": "model.thought",
        "PlanChanged": "plan.changed",
        "ProfileSelected": "tool.policy.profile_selected",
        "NodeToolCalled": "nodehost.tool.call",
        "JobEnded": "job.ended",
        "CalendarChanged": "calendar.changed",
        "SkillActivated": "proactive.skill.auto_activated",
        "SkillOpened": "proactive.skill.manual_activated",
        "ChainStarted": "proactive.skill.chain_started",
        "ChainCompleted": "proactive.skill.chain_completed",
        "SkillSuggested": SUGGESTED,
        "ProposalDecided": "proactive.proposal.decided",
        "LessonChanged": "proactive.rule.changed",
        "SkillRated": "proactive.skill.feedback",
        "HumanResponse": "human.response",
        "NoteCreated": "note.created",
        "NoteEdited": "note.edited",
        "NoteMoved": "note.moved",
        "NoteDeleted": "note.deleted",
        "FileChanged": "file.changed",
        "FilesChanged": "files.changed",
        "EditsCommitted": "edits.committed",
        "EditsStopped": "edits.stopped",
        "RemoteSynced": "remote.synced",
        "Tick": "tick",
        "TurnEnded": "turn.ended",
        "Ended": "run.ended",
        "ScanFinished": "scan.finished",
        "IndexUpdated": "index.updated",
        "DaemonStarted": "daemon.started",
        "DaemonStopped": "daemon.stopped",
        "StateChanged": "state.changed",
        "PatternDetected": "proactive.pattern.detected",
        "NoticeRaised": "notice.raised",
        "NotificationSent": "proactive.notification",
        "NotificationSuppressed": "proactive.notification.suppressed",
    }
)


def event_name(name: str) -> str:
    """The name of an event by its type's name; a name that is not in the table is unchanged."""
    return NAMES.get(name, name)


BOUNDS = tuple(
    factor * unit for unit in (0.001, 0.01, 0.1, 1.0) for factor in (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
) + (10.0,)  # fmt: skip
"""The upper bounds of the buckets in seconds; longer durations are in one more bucket."""
LONGER = "inf"
SUM = "sum"
_NAMES = tuple(f"{bound:g}" for bound in BOUNDS)


@dataclass(frozen=True, slots=True)
class Durations:
    """The numbers of durations by the upper bound of their bucket (`0.2`, …, `inf`), and their sum in seconds."""

    counts: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def count(self) -> float:
        """The number of durations."""
        return sum(self.counts.values())

    def cumulated(self) -> Iterator[tuple[str, float]]:
        """Each bound, ascending, with the number of durations up to it; `inf` last."""
        total = 0.0
        for name in (*_NAMES, LONGER):
            total += self.counts.get(name, 0)
            yield name, total

    def quantile(self, share: float) -> float | None:
        """The seconds that this share of the durations (0 to 1) does not exceed, interpolated within a bucket; None
        without durations. A duration above the last bound counts as that bound."""
        if not self.count:
            return None
        wanted = share * self.count
        below, lower = 0.0, 0.0
        for (name, up_to), upper in zip(self.cumulated(), BOUNDS, strict=False):
            if up_to >= wanted and self.counts.get(name, 0):
                return lower + (upper - lower) * (wanted - below) / (up_to - below)
            below, lower = up_to, upper
        return BOUNDS[-1]


def bucket_of(seconds: float) -> str:
    """The name of the bucket of a duration."""
    at = bisect_left(BOUNDS, seconds)
    return _NAMES[at] if at < len(_NAMES) else LONGER


def parse_durations(figures: Mapping[str, float]) -> Durations:
    """The durations from the figures of a day's file; unknown names are left out."""
    counts = {name: figures[name] for name in (*_NAMES, LONGER) if figures.get(name, 0) > 0}
    return Durations(counts, figures.get(SUM, 0.0))
