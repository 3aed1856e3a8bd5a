"""The expiry of entries: their own `expires`, or else days by type and scope since they were last said."""

from datetime import datetime, timedelta

from agent.config.memory_settings import MemorySettings
from agent.memory.entry import Entry, EntryType, Scope


def expiry(entry: Entry, settings: MemorySettings) -> datetime | None:
    """The time at which the entry expires; None for never."""
    if entry.expires is not None:
        return entry.expires if entry.expires.tzinfo else entry.expires.replace(tzinfo=entry.created.tzinfo)
    days = lifetime(entry.type, entry.scope, settings)
    return None if days is None else entry.last_said + timedelta(days=days)


def lifetime(kind: EntryType, scope: Scope, settings: MemorySettings) -> int | None:
    """Days for which an entry of this type and scope is recalled; None for always."""
    match kind:
        case EntryType.FACT:
            return settings.fact_days
        case EntryType.CHAT_TURN:
            return settings.chat_turn_user_days if scope is Scope.USER else settings.chat_turn_chat_days
        case EntryType.AUTO_CAPTURE | EntryType.AUTO_FLUSH:
            return settings.auto_capture_days
        case EntryType.WORKFLOW_TRACE:
            return 0
        case EntryType.USER_EXPLICIT | EntryType.RESEARCH | EntryType.REFLECTION:
            return None
