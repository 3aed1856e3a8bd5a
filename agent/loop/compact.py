"""Compaction of a session: facts are saved as memories, then a summary replaces the older messages.

Three steps in this order: the event `ContextCompact` announces the messages to drop (its subscribers save facts by
rule), the model is asked for facts to remember, the messages are summarised. If a step fails the next one still runs;
only a person's stop ends them. The session's note keeps every message, and the summary is a note beside it.
"""

import logging
from dataclasses import replace

from agent.context.anchor import Anchor
from agent.context.assemble import in_order, with_text
from agent.context.budget import Window
from agent.context.compaction import Compacted, compact, needs_compaction, room_for_history, said_messages, split
from agent.context.prompt import fill
from agent.dataclass import dataclass
from agent.errors import AgentError, Interrupted
from agent.events.runs import ContextCompact, Said, Speaker
from agent.llm.messages import Context, Message, Request, System, ToolSpec, User
from agent.loop.agent import Agent, Models
from agent.loop.records import Summarised
from agent.loop.session import Session
from agent.markdown.note import Note
from agent.markdown.values import Value
from agent.memory.capture.flush import MOST, parse_flush
from agent.texts import text
from agent.tools.tool import RunContext

_SUMMARY_TOKENS = 1_024
_FLUSH_TOKENS = 512
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Scene:
    """The run whose session is compacted: session, models and window, the speaker, and the parts of its request."""

    session: Session
    models: Models
    window: Window
    context: RunContext
    speaker: Speaker
    anchor: Anchor
    tools: tuple[ToolSpec, ...]


def make_room(agent: Agent, scene: Scene, *, wanted: bool = False) -> Compacted | None:
    """Compact the session if the next request would be too large, or if a person asked for it (`wanted`); else return
    None."""
    session, window, count = scene.session, scene.window, agent.count
    system, history = session.system, session.history
    if not wanted and not needs_compaction(system, history, scene.anchor, scene.tools, window, count):
        return None
    room = room_for_history(system, scene.anchor, scene.tools, window, count)
    turns = agent.context.keep_turns
    dropped, _ = split(history, turns, room, count)
    if not dropped:
        return None
    run = scene.context.run
    untrusted = tuple(scene.context.taint.sources)
    said = _without_jobs(scene, dropped)
    agent.bus.publish(ContextCompact(run, session.path, scene.speaker, _heard(session, said), untrusted))
    _flush(agent, scene, _own(session, said))
    model = scene.models.fast

    def summarise(prompt: str) -> str:
        request = Request((User(prompt),), max_output=min(_SUMMARY_TOKENS, model.model.max_output))
        return model.chat(request, cancelled=scene.context.cancelled).message.text

    asked = summarise if model.model.present else None
    now, read = agent.clock.now(), agent.vault.own_version_of
    compacted = compact(history, turns, asked, now, room=room, count=count, language=agent.language, read=read)
    if compacted is None:
        return None
    if compacted.problem:
        logger.warning("%s: %s; the summary was made by rule", session.path, compacted.problem)
    session.add(Summarised(compacted.summary.text, len(compacted.kept)))
    session.save("make room: a summary stands in for the beginning", beside=_note(agent, scene, compacted))
    return compacted


def _without_jobs(scene: Scene, dropped: tuple[Message, ...]) -> tuple[Message, ...]:
    """The dropped messages from which facts may be saved: none of a job's run, and none in one."""
    if scene.context.job:
        return ()
    of_jobs = {id(each.message) for each in scene.session.heard if each.of_job}
    return tuple(message for message in dropped if id(message) not in of_jobs)


def _heard(session: Session, dropped: tuple[Message, ...]) -> tuple[Said, ...]:
    """The dropped messages for subscribers; a sub-run's task counts as context, since a model and not a person wrote
    it."""
    told = said_messages(dropped)
    return (
        tuple(replace(each, role="context") if each.role == "user" else each for each in told)
        if session.parent
        else told
    )


def _own(session: Session, dropped: tuple[Message, ...]) -> tuple[Message, ...]:
    """The dropped messages from runs of the current speaker; facts of other people are not saved for this person."""
    others = {id(each.message) for each in session.heard if not each.own}
    return tuple(message for message in dropped if id(message) not in others)


def _flush(agent: Agent, scene: Scene, dropped: tuple[Message, ...]) -> None:
    """Ask the model for facts to remember; the person does not see it.

    Not in a guest's run: facts of a guest are kept for their chat, which may be a group whose members have not seen
    them.
    """
    model = scene.models.main
    if not model.model.present or not dropped or scene.context.role != "owner":
        return
    try:
        wish = fill(
            "flush", agent.vault.own_version_of, most=str(MOST), language=text("prompt.language", agent.language)
        )
        messages = (System(scene.session.system), *in_order(with_text(dropped)), Context(wish, "flush"))
        request = Request(messages, scene.tools, min(_FLUSH_TOKENS, model.model.max_output), len(messages) - 1)
        facts = parse_flush(model.chat(request, cancelled=scene.context.cancelled).message.text)
        if facts:
            agent.keep(facts, scene.context)
    except Interrupted:
        raise
    except (AgentError, OSError) as error:
        logger.warning("%s: the model could not say what to remember: %s", scene.session.path, error)


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
