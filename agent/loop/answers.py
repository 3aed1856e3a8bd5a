"""What the person has answered in a run: for the model's reminder, and as an event."""

from datetime import datetime

from agent.events.runs import HumanResponse
from agent.llm.messages import ToolResult
from agent.loop.records import Spoken
from agent.loop.session import Session
from agent.tools.builtin.human import ANSWERED
from agent.tools.registry import Called
from agent.tools.tool import RunContext

_ASK = "human_ask"
_MOST = 3


def answers_in(session: Session, run: str) -> tuple[str, ...]:
    """The last answers in a run, the newest last."""
    said = (event.message for event in session.of_run(run) if isinstance(event, Spoken))
    found = [answer_of(each) for each in said if isinstance(each, ToolResult)]
    return tuple(filter(None, found))[-_MOST:]


def response_of(result: ToolResult, called: Called, context: RunContext, now: datetime) -> HumanResponse | None:
    """The event of an answer that a call has brought; None for any other result."""
    answer = answer_of(result)
    path = called.given.sources[0].path if called.given and called.given.sources else ""
    return HumanResponse(result.call, path, answer, now, context.run) if answer else None


def answer_of(result: ToolResult) -> str:
    """What the person has answered, if that is what a call has brought; else empty."""
    is_answer = result.name == _ASK and not result.failed and result.text.startswith(ANSWERED)
    return result.text.removeprefix(ANSWERED) if is_answer else ""
