"""Finds what guests have said: for the owner's runs it is a stranger's text, as it asks the agent for what it likes."""

from agent.markdown.note import Note
from agent.markdown.session_marks import guests
from agent.vault.folders import ENTRIES, SESSIONS, AgentFolder


def guest_of(path: str, data: bytes, home: AgentFolder) -> str:
    """The guest whose words a memory or a session has, as the origin of its text; empty for any other note."""
    if home.holds(path, SESSIONS):
        return named_guest(*guests(data.decode("utf-8", "replace")))
    if home.holds(path, ENTRIES):
        return named_guest(*filter(None, [Note.parse(data).string("sender_id")]))
    return ""


def named_guest(*names: str) -> str:
    """The origin of text that these guests have said; empty without names."""
    return f"a guest, {', '.join(names)}" if names else ""
