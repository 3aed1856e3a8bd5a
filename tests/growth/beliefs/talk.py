"""Conversations and questions as notes, for the belief tests."""

from datetime import datetime, timedelta

from agent.llm.messages import Assistant, User
from agent.loop.record_format import format_records
from agent.loop.records import Began, Closed, RecordedEvent, SessionRecord, Spoken, Tainted
from agent.markdown.note import Note


def session(
    at: datetime, *said: str, role: str = "owner", sender: str = "", taint: str = "", job: str = "", pause: float = 60.0
) -> dict[str, str]:
    """The note of a conversation in which the person and the agent speak in turn, the person first."""
    run = f"R{at:%d%H%M%S}"
    records = [SessionRecord(at, Began(run, said[0], "cli", sender, role=role, job=job))]
    for number, words in enumerate(said):
        event: RecordedEvent = Spoken(Assistant(words) if number % 2 else User(words))
        records.append(SessionRecord(at + timedelta(seconds=pause * number), event))
    records += [SessionRecord(at, Tainted(taint))] if taint else []
    records.append(SessionRecord(at, Closed(run, "finished")))
    header = Note.compose({"id": f"S{at:%d%H%M%S}", "type": "session", "created": at, "channel": "cli"}, "# Talk\n\n")
    return {f"sessions/{at:%Y/%m}/{at:%Y-%m-%d} Talk {at:%H%M%S}.md": header.text + format_records(records, "en")}


def question(
    at: datetime, title: str, options: tuple[str, ...], chosen: str, talk: str, **more: object
) -> dict[str, str]:
    """The note of a question of a run in the session `talk`, with the chosen option ticked."""
    header = {
        "id": f"Q{at:%d%H%M%S}",
        "type": "question",
        "created": at,
        "status": "answered",
        "run": "R1",
        "session": f"[[{talk.removesuffix('.md')}]]",
        **more,
    }
    boxes = "\n".join(f"- [{'x' if each == chosen else ' '}] {each}" for each in options)
    note = Note.compose(header, f"# {title}\n\n{boxes}\n\n## Answer\n\n")  # type: ignore[arg-type]
    return {f"questions/{at:%Y-%m-%d}-{at:%H%M%S}.md": note.text}
