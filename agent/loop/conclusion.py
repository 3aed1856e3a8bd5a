"""The conclusion of a run at a limit: one last call of the model, which says what was done and what is left.

It is a metered call like any other, and never follows a ceiling of the day or a person's stop. The session's note says
before the call that the run is at its limit: a run that is resumed after that ends at once, so no run concludes twice.
Without a conclusion the run ends with what it has.
"""

import logging
from dataclasses import replace

from agent.context.anchor import Anchor
from agent.context.assemble import assemble
from agent.context.prompt import fill, reader_for
from agent.errors import AgentError, Interrupted, LimitReached
from agent.llm.messages import Assistant, OnText, Request, Usage
from agent.loop.agent import Agent, unfinished_result
from agent.loop.compact import Scene
from agent.loop.limits import stop_hint, stop_reason
from agent.loop.records import AtLimit, Spoken
from agent.texts import Sentence

SECONDS = 60.0
"""The time for a conclusion, also when that of the run is used up: a local model writes a few sentences in it, and a
person who has set a limit does not wait much longer than that."""
TOKENS = 1_024
"""The longest conclusion: a few sentences, and room for a model that thinks before it writes."""
logger = logging.getLogger(__name__)


def conclude(agent: Agent, scene: Scene, anchor: Anchor, limit: LimitReached, on_text: OnText) -> None:
    """Ask the model for a conclusion and add it to the session, if the limit leaves room for one and the run does not
    end with words of the model already; `scene.context` is cancelled by a person only, `anchor` is the reminder of the
    run's task."""
    session, model = scene.session, scene.models.main
    last = session.history[-1] if session.history else None
    answered = isinstance(last, Assistant) and not last.calls
    if not limit.concludes or answered or not model.model.present or scene.context.cancelled():
        return
    session.add(*(Spoken(unfinished_result(call)) for call in session.open_calls))
    try:
        request = _request(agent, scene, anchor, limit)
        session.add(AtLimit(stop_reason(limit, agent.language), stop_hint(limit, agent.language)))
        session.save(Sentence("session: at a limit"), hold=True)
        _ask(agent, scene, request, on_text)
    except (AgentError, OSError) as error:
        logger.warning("%s: the run ends without a conclusion: %s", session.path, error)


def _request(agent: Agent, scene: Scene, anchor: Anchor, limit: LimitReached) -> Request:
    """The request of the next step with the wish for a conclusion at its end; raises `LimitReached` if the window is
    too small. Its tools stay described, though none may be called: a cache knows them, and some servers refuse a
    conversation with calls and without tools."""
    session, window = scene.session, scene.window
    read = reader_for(scene.audience, agent.vault.own_version_of)
    wish = fill("conclude", read, reason=stop_reason(limit, agent.language))
    anchor = replace(anchor, left=(), closing=wish)
    session.add(Spoken(anchor.message(window, agent.count)))
    most = min(TOKENS, window.reserve)
    prompt = assemble(session.system, session.history, scene.tools, window, agent.count, most)
    return replace(prompt.request, may_call=False)


def _ask(agent: Agent, scene: Scene, request: Request, on_text: OnText) -> None:
    """Add the model's words to the session, or the part that arrived in time; calls in them are dropped."""
    came: list[str] = []
    until = agent.clock.monotonic() + SECONDS

    def hear(text: str) -> None:
        if not came:
            on_text("\n\n")  # the model's words before its last calls may be on the same line
        came.append(text)
        on_text(text)

    def cancelled() -> bool:
        return scene.context.cancelled() or agent.clock.monotonic() >= until

    usage: Usage | None = None
    try:
        reply = scene.models.main.chat(request, hear, cancelled)
        text, usage = reply.message.text, reply.usage
    except Interrupted:
        text = "".join(came)
    if text.strip():
        scene.session.add(Spoken(Assistant(text), usage))
