"""The note of a session in which one run used tools, as the program writes it."""

from datetime import datetime

from agent.llm.messages import Assistant, ToolCall, ToolResult, User
from agent.loop.record_format import format_records
from agent.loop.records import Began, Closed, RecordedEvent, SessionRecord, Spoken
from agent.markdown.note import Note
from agent.texts import Language


def session_note(
    run: Began, when: datetime, steps: list[tuple[str, str]], outcome: str = "finished", language: Language = "en"
) -> tuple[str, str]:
    """Its path and text; `steps` are the tools with the paths that they were called with."""
    events: list[RecordedEvent] = [run, Spoken(User(run.task))]
    for number, (tool, about) in enumerate(steps):
        call = ToolCall(f"{run.run}-{number}", tool, {"path": about})
        events += [Spoken(Assistant("", (call,))), Spoken(ToolResult(call.id, tool, "done"))]
    events += [Spoken(Assistant("Done.")), Closed(run.run, outcome)]
    header = Note.compose({"id": f"S{run.run}", "type": "session", "created": when, "channel": "cli"}, "# Work\n\n")
    records = format_records([SessionRecord(when, event) for event in events], language)
    return f"sessions/{when:%Y/%m}/{when:%Y-%m-%d} {run.run}.md", header.text + records
