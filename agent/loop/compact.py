"""Compaction of a session: a summary replaces the older messages.

The event `ContextCompact` announces it (a subscriber saves the facts of the conversation), then the messages are
summarised, also if a subscriber fails. The session's note keeps every message, and the summary is a note beside it.
"""

import logging

from agent.context.budget import Window
from agent.context.compaction import Compacted, compact, needs_compaction, room_for_history, split
from agent.context.prompt import Audience, audience_of, reader_for
from agent.dataclass import dataclass
from agent.events.runs import ContextCompact, Speaker
from agent.llm.messages import Request, ToolSpec, User
from agent.loop.agent import Agent, Models
from agent.loop.records import Summarised
from agent.loop.session import Session
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value
from agent.texts import Sentence
from agent.tools.tool import RunContext

_SUMMARY_TOKENS = 1_024
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Scene:
    """The run whose session is compacted: session, models and window, the speaker, and the parts of its request."""

    session: Session
    models: Models
    window: Window
    context: RunContext
    speaker: Speaker
    tools: tuple[ToolSpec, ...]

    @property
    def audience(self) -> Audience:
        """The audience of the run."""
        return audience_of(self.context.role, group=self.speaker.group)


def make_room(agent: Agent, scene: Scene, *, wanted: bool = False) -> Compacted | None:
    """Compact the session if the next request would be too large, or if a person asked for it (`wanted`); else return
    None."""
    session, window, count = scene.session, scene.window, agent.count
    system, history = session.system, session.history
    if not wanted and not needs_compaction(system, history, scene.tools, window, count):
        return None
    room = room_for_history(system, scene.tools, window, count)
    turns = agent.context.keep_turns
    dropped, _ = split(history, turns, room, count)
    if not dropped:
        return None
    agent.bus.publish(ContextCompact(scene.context.run, session.path, len(dropped)))
    model = scene.models.fast

    def summarise(prompt: str) -> str:
        request = Request((User(prompt),), max_output=min(_SUMMARY_TOKENS, model.model.max_output))
        return model.chat(request, cancelled=scene.context.cancelled).message.text

    asked = summarise if model.model.present else None
    now, read = agent.clock.now(), reader_for(scene.audience, agent.vault.own_version_of)
    compacted = compact(history, turns, asked, now, room=room, count=count, language=agent.language, read=read)
    if compacted is None:
        return None
    if compacted.problem:
        logger.warning("%s: %s; the summary was made by rule", session.path, compacted.problem)
    session.add(Summarised(compacted.summary.text, len(compacted.remaining)))
    subject = Sentence("session: a summary stands in for the beginning")
    session.save(subject, beside=_note(agent, scene, compacted), hold=not wanted)  # a run goes on after it
    return compacted


def _note(agent: Agent, scene: Scene, compacted: Compacted) -> dict[str, bytes]:
    """The summary as a separate note, which search finds; its header names the untrusted text that it may contain.

    No note for the conversation of a group or a guest: search would show it outside of that conversation.
    """
    session = scene.session
    if scene.speaker.group or scene.context.role != "owner":
        return {}
    number = sum(isinstance(record.event, Summarised) for record in session.records)
    name = session.path.removesuffix(".md")
    header: dict[str, Value] = {
        "id": agent.clock.new_id(),
        "type": "summary",
        "created": agent.clock.now().replace(microsecond=0),
        "session": f"[[{name}]]",
    }
    if scene.context.taint:
        header["untrusted"] = list(scene.context.taint.sources)
    return {f"{name}-summary-{number}.md": Note.compose(header, compacted.summary.text + "\n").data}
