"""The names of events in the metrics, by the names of their types; each new event needs a line here.

The table uses type names instead of types, so that it may name an event before its type exists, and so that counts
saved under a type's name are added to those under the event's name.
"""

from collections.abc import Mapping
from types import MappingProxyType

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
        "ProfileSelected": "tool.policy.profile_selected",
        "NodeToolCalled": "nodehost.tool.call",
        "JobEnded": "job.ended",
        "SkillActivated": "proactive.skill.auto_activated",
        "SkillOpened": "proactive.skill.manual_activated",
        "ChainStarted": "proactive.skill.chain_started",
        "ChainCompleted": "proactive.skill.chain_completed",
        "SkillSuggested": SUGGESTED,
        "ProposalDecided": "proactive.proposal.decided",
        "RuleChanged": "proactive.rule.changed",
        "SkillRated": "proactive.skill.feedback",
        "HumanResponse": "human.response",
        "MethodFound": "proactive.method.found",
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
