"""What was said and done in a run, read from its session's note: its steps, its person's messages, and their lines."""

from agent.errors import NoteGone
from agent.llm.messages import Assistant, ToolResult, User
from agent.loop.mailbox import answer_of
from agent.loop.records import Began, Spoken
from agent.loop.session import Session, load_session
from agent.memory.capture.facts import Utterance
from agent.memory.capture.run_trace import RunTrace, ToolUse
from agent.tools.tool_names import resolved
from agent.vault.store import Vault

_ABOUT = ("path", "query", "url", "task", "text", "question", "argv")
"""Arguments that show the subject of a call, the most informative first."""


def run_trace(vault: Vault, path: str, run: str) -> RunTrace:
    """The trace of a run from its session's note: its calls in order, and the sources of untrusted text."""
    try:
        session = load_session(vault, path)
    except NoteGone:
        return RunTrace(is_whole=False)
    return trace_of(session, run)


def trace_of(session: Session, run: str) -> RunTrace:
    """The trace of a run in a session that was read from its note."""
    said = [event.message for event in session.of_run(run) if isinstance(event, Spoken)]
    failed = {each.call for each in said if isinstance(each, ToolResult) and each.failed}
    calls = [resolved(call) for each in said if isinstance(each, Assistant) for call in each.calls]
    steps = tuple(ToolUse(call.name, _about(call.arguments), call.id in failed) for call in calls)
    return RunTrace(steps, session.untrusted, said=_said(session, run))


def latest_findings(vault: Vault, path: str, run: str, most: int) -> str:
    """What a run has found and thought last: the results of its tools and the model's own words, oldest first, at most
    `most` characters of their end."""
    try:
        session = load_session(vault, path)
    except NoteGone:
        return ""
    said = (event.message for event in session.of_run(run) if isinstance(event, Spoken))
    return "\n".join(each.text for each in said if isinstance(each, Assistant | ToolResult))[-most:]


def _said(session: Session, run: str) -> tuple[Utterance, ...]:
    """What the person of a run has said in it, and in their runs before it: tasks, interruptions, answers."""
    ours = next((each for each in session.of_run(run) if isinstance(each, Began)), None)
    if ours is None or ours.job:
        return ()
    found: list[Utterance] = []
    began: Began | None = None
    for record in session.records:
        match record.event:
            case Began() as began:
                pass
            case _ if began is not None and began.job:  # no person has said anything in it
                pass
            case Spoken(ToolResult() as result) if began and (answer := answer_of(result)):
                found.append(Utterance(answer, is_earlier=began.run != run))
            case Spoken(User(text)) if began and began.sender == ours.sender and text.strip():
                is_ours = began.run == run
                found.append(Utterance(text, record.line if is_ours else 0, not is_ours))
    return tuple(found)


def _about(arguments: object) -> str:
    given = arguments if isinstance(arguments, dict) else {}
    return next((str(given[key]) for key in _ABOUT if given.get(key)), "")
