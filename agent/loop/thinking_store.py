"""The thinking of models in a session, kept on this machine with the texts that they were given; never in the note.

It is signed or encrypted data that only the model can use. A session that goes on elsewhere, or after a forgetting,
goes on without it.
"""

import json
from collections.abc import Callable
from dataclasses import replace

from agent.events.runs import ModelThought
from agent.llm.messages import Assistant, JsonObject, items, mapping, parsed, text
from agent.llm.thinking import thought_in
from agent.loop.records import Spoken
from agent.loop.session import Session, stored_texts

_MARK = '{"thinking before": '
"""The beginning of a text that is thinking: no text that a model was given begins so."""


def keep_thinking(session: Session, message: Assistant, run: str, publish: Callable[[object], object]) -> None:
    """Keep the thinking of a message that has calls, and publish what of it is words."""
    if thought := thought_in(message):
        publish(ModelThought(run, session.path, session.vault.masked(thought)))
    if message.thinking and message.calls:
        stored = {"thinking before": message.calls[0].id, "by": message.thinking_by, "kept": message.thinking}
        stored_texts(session.vault).put(session.id, [json.dumps(stored, default=dict)])


def restore_thinking(session: Session) -> None:
    """Give the messages of a session their thinking again, as far as it is kept here."""
    texts = (each for each in stored_texts(session.vault).of(session.id).values() if each.startswith(_MARK))
    by_call = {text(stored.get("thinking before")): stored for stored in map(_parse_stored, texts)}
    for at, record in enumerate(session.records):
        match record.event:
            case Spoken(Assistant(calls=(first, *_), thinking=()) as message) if (
                stored := by_call.get(first.id)
            ) is not None:
                blocks = tuple(map(mapping, items(stored.get("kept"))))
                whole = replace(message, thinking=blocks, thinking_by=text(stored.get("by")))
                session.records[at] = replace(record, event=replace(record.event, message=whole))


def _parse_stored(written: str) -> JsonObject:
    try:
        return mapping(parsed(written))
    except ValueError:
        return {}
