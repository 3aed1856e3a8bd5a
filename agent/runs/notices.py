"""Notices: a line in the day's note for each thing that the agent did without being asked."""

from agent.memory import daily
from agent.memory.capture.writer import Addition
from agent.skills.history.feedback import PutAside
from agent.texts import text
from agent.vault.change import Stamp
from agent.workspace.workspace import Workspace


def announce(workspace: Workspace, gone: PutAside) -> None:
    """Write into today's note that a learned skill was put aside, and how to restore it; raises the errors of a
    transaction."""
    language, now = workspace.settings.vault.language, workspace.clock.now()
    lines = [text("notices.skill_why", language, link=gone.path.removesuffix(".md"))]
    if gone.commit:
        lines.append(text("notices.skill_back", language, commit=gone.commit[:12]))
    said = daily.block(now, text("notices.skill_aside", language, name=gone.name), lines)
    note = Addition(daily.path_of(now.date()), daily.new_note(now.date()).encode(), said.encode())
    stamp = Stamp("agent", tool="skill_feedback")
    with workspace.vault.transaction(f"skills(deprecate): say so of {gone.name}", stamp) as day:
        day.append(note.path, note.text, note.head)
